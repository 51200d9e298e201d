// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/npy.h"

#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/base/base_test_util.h"

namespace pjrt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A file of version `version` with that header, unpadded as the format allows, and those bytes
// behind it.
std::string File(const std::string& header, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + data;
}

std::string Header(const std::string& descr, const std::string& shape, bool fortran_order = false) {
  return absl::StrCat("{'descr': '", descr,
                      "', 'fortran_order': ", fortran_order ? "True" : "False",
                      ", 'shape': ", shape, ", }\n");
}

template <typename T>
std::string Raw(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(&bytes[0], values.data(), bytes.size());
  return bytes;
}

TEST(NpyReadTest, NumbersOfEachKindAreRead) {
  EXPECT_EQ(LiteralFromNpy(File(Header("<f4", "(2, 2)"), Raw<float>({1, 2, 3, 4})))->ToString(),
            "f32[2,2] {{1, 2}, {3, 4}}");
  EXPECT_EQ(LiteralFromNpy(File(Header("<f8", "(1,)"), Raw<double>({0.5})))->ToString(),
            "f64[1] {0.5}");
  EXPECT_EQ(LiteralFromNpy(File(Header("<f2", "()"), Raw<half>({half(1.5f)})))->ToString(),
            "f16[] 1.5");
  EXPECT_EQ(LiteralFromNpy(File(Header("<i8", "()"), Raw<int64_t>({-5})))->ToString(), "s64[] -5");
  EXPECT_EQ(LiteralFromNpy(File(Header("<u2", "()"), Raw<uint16_t>({65535})))->ToString(),
            "u16[] 65535");
  EXPECT_EQ(LiteralFromNpy(File(Header("|i1", "(2,)"), Raw<int8_t>({-1, 2})))->ToString(),
            "s8[2] {-1, 2}");
  EXPECT_EQ(LiteralFromNpy(File(Header("|b1", "(3,)"), std::string("\0\1\2", 3)))->ToString(),
            "pred[3] {false, true, true}");
  EXPECT_EQ(
      LiteralFromNpy(File(Header("<c8", "()"), Raw<std::complex<float>>({{1, -2}})))->ToString(),
      "c64[] (1, -2)");
  EXPECT_EQ(
      LiteralFromNpy(File(Header("<c16", "()"), Raw<std::complex<double>>({{1, -2}})))->ToString(),
      "c128[] (1, -2)");
}

TEST(NpyReadTest, FortranOrderIsTurnedToRowMajor) {
  const auto literal =
      LiteralFromNpy(File(Header("<i4", "(2, 3)", true), Raw<int32_t>({0, 3, 1, 4, 2, 5})));
  ASSERT_TRUE(literal.ok());
  EXPECT_EQ(literal->shape().ToString(), "s32[2,3]{1,0}");
  EXPECT_THAT(literal->data<int32_t>(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(NpyReadTest, EveryVersionIsRead) {
  for (const int version : {1, 2, 3}) {
    EXPECT_TRUE(LiteralFromNpy(File(Header("<f4", "(1,)"), Raw<float>({1}), version)).ok())
        << version;
  }
  for (const int version : {0, 4, 255}) {
    EXPECT_THAT(
        Message(LiteralFromNpy(File(Header("<f4", "(1,)"), Raw<float>({1}), version)).status()),
        HasSubstr("[PJRT-B013]"));
  }
}

TEST(NpyReadTest, HeadersMayBeWrittenInAnyWayThatPythonMay) {
  for (const char* header :
       {"{'shape': (2,), 'descr': '<f4', 'fortran_order': False}",
        "{\"descr\":\"<f4\",\"fortran_order\":False,\"shape\":(2,)}",
        "  { 'descr' : '<f4' , 'fortran_order' : False , 'shape' : ( 2 , ) , }   \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2L,), }",
        "{'descr': '=f4', 'fortran_order': False, 'shape': (2), }"}) {
    const auto literal = LiteralFromNpy(File(header, Raw<float>({1, 2})));
    EXPECT_TRUE(literal.ok()) << header << literal.status();
  }
}

TEST(NpyReadTest, UnsignedIntegersAreTheBitsOfTypesThatNumpyLacks) {
  const std::string two_bytes =
      File(Header("<u2", "(2,)"), Raw<bfloat16>({bfloat16(1), bfloat16(-2.5f)}));
  EXPECT_EQ(LiteralFromNpy(two_bytes, BF16)->ToString(), "bf16[2] {1, -2.5}");
  EXPECT_EQ(LiteralFromNpy(two_bytes, F16)->shape().element_type(), F16);
  EXPECT_EQ(LiteralFromNpy(two_bytes)->shape().element_type(), U16);
  const std::string bytes = File(Header("|u1", "(2,)"), std::string("\x38\xc4", 2));
  EXPECT_EQ(LiteralFromNpy(bytes, F8E4M3FN)->ToString(), "f8e4m3fn[2] {1, -3}");
  EXPECT_EQ(LiteralFromNpy(bytes, U4)->ToString(), "u4[2] {8, 4}");
  EXPECT_EQ(LiteralFromNpy(bytes, PRED)->ToString(), "pred[2] {true, true}");
  EXPECT_EQ(LiteralFromNpy(File(Header("<u4", "()"), Raw<float>({1.5})), F32)->ToString(),
            "f32[] 1.5");
}

TEST(NpyReadTest, SubByteIntegersAreReadFromBytes) {
  EXPECT_EQ(LiteralFromNpy(File(Header("|i1", "(2,)"), Raw<int8_t>({-3, 7})), S4)->ToString(),
            "s4[2] {-3, 7}");
  EXPECT_EQ(LiteralFromNpy(File(Header("|u1", "(1,)"), "\x1f"), F4E2M1FN)->ToString(),
            "f4e2m1fn[1] {-6}");
}

TEST(NpyReadTest, RawBytesNeedTheirTypeNamed) {
  const std::string file = File(Header("|V2", "(1,)"), Raw<bfloat16>({bfloat16(3)}));
  EXPECT_EQ(LiteralFromNpy(file, BF16)->ToString(), "bf16[1] {3}");
  EXPECT_THAT(Message(LiteralFromNpy(file).status()), HasSubstr("[PJRT-B018]"));
  EXPECT_THAT(Message(LiteralFromNpy(file, F32).status()), HasSubstr("[PJRT-B018]"));
}

TEST(NpyReadTest, AnotherTypeThanWantedIsRefused) {
  const std::string file = File(Header("<f4", "(1,)"), Raw<float>({3}));
  EXPECT_TRUE(LiteralFromNpy(file, F32).ok());
  for (const PrimitiveType type : {F64, S32, U32, BF16, PRED, TOKEN, INVALID, TUPLE}) {
    EXPECT_THAT(Message(LiteralFromNpy(file, type).status()), HasSubstr("[PJRT-B018]"));
  }
  EXPECT_FALSE(LiteralFromNpy(File(Header("|i1", "(1,)"), "a"), U8).ok());
  EXPECT_FALSE(LiteralFromNpy(File(Header("|b1", "(1,)"), "a"), U8).ok());
}

TEST(NpyReadTest, UnsupportedDtypesAreNamed) {
  for (const char* descr :
       {">f4", ">i8", "<f16", "|O", "|S5", "<U3", "<M8[ns]", "V4", "f4x", "", "<"}) {
    const auto literal = LiteralFromNpy(File(Header(descr, "(1,)"), std::string(100, '\0')));
    EXPECT_THAT(Message(literal.status()), HasSubstr("[PJRT-B016]")) << descr;
    EXPECT_THAT(Message(literal.status()), HasSubstr(descr));
  }
  EXPECT_THAT(
      Message(LiteralFromNpy(
                  File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", ""))
                  .status()),
      HasSubstr("structured"));
}

TEST(NpyReadTest, WhatIsNoNpyIsRefused) {
  for (const char* text : {"", "x", "NUMPY", "PK\3\4", "\x93NUMPX\1"}) {
    EXPECT_THAT(Message(LiteralFromNpy(text).status()), HasSubstr("[PJRT-B013]")) << text;
  }
}

TEST(NpyReadTest, EveryTruncationIsReported) {
  for (const int version : {1, 2}) {
    const std::string whole = File(Header("<f4", "(3,)"), Raw<float>({1, 2, 3}), version);
    ASSERT_TRUE(LiteralFromNpy(whole).ok());
    for (size_t length = 1; length < whole.size(); ++length) {
      const auto literal = LiteralFromNpy(whole.substr(0, length));
      EXPECT_THAT(Message(literal.status()), HasSubstr("[PJRT-B014]")) << length;
    }
    EXPECT_THAT(Message(LiteralFromNpy(whole + "x").status()),
                HasSubstr("[PJRT-B019] the .npy data has 1 bytes"));
  }
}

TEST(NpyReadTest, MalformedHeadersAreReportedWithThePlace) {
  for (const char* header :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
        "{'descr': <f4, 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr: '<f4'}", "[1, 2]", "{'descr': '<f4",
        "{'descr': '<\\x664', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}"}) {
    EXPECT_THAT(Message(LiteralFromNpy(File(header, Raw<float>({1, 2}))).status()),
                HasSubstr("[PJRT-B015]"))
        << header;
  }
}

TEST(NpyReadTest, HostileSizesAllocateNothing) {
  for (const char* shape : {"(9223372036854775807,)", "(4611686018427387904, 4)",
                            "(9223372036854775807, 9223372036854775807, 0)"}) {
    EXPECT_THAT(Message(LiteralFromNpy(File(Header("<f8", shape), "")).status()),
                HasSubstr("[PJRT-B017]"))
        << shape;
  }
  EXPECT_THAT(Message(LiteralFromNpy(File(Header("<f8", "(-1,)"), "")).status()),
              HasSubstr("[PJRT-B017]"));
  EXPECT_THAT(Message(LiteralFromNpy(File(Header("<f8", "(1000000000000,)"), "")).status()),
              HasSubstr("[PJRT-B014]"));
  std::string header_of_4_gib = "\x93NUMPY\2";
  header_of_4_gib += std::string("\0\xff\xff\xff\xff", 5);
  EXPECT_THAT(Message(LiteralFromNpy(header_of_4_gib).status()), HasSubstr("[PJRT-B014]"));
}

TEST(NpyReadTest, DamagedFilesNeverCrash) {
  const std::string whole = File(Header("<f4", "(2, 3)"), Raw<float>({1, 2, 3, 4, 5, 6}));
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (unsigned n = random() % 3 + 1; n > 0; --n)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    const auto literal = LiteralFromNpy(damaged);
    if (!literal.ok()) {
      EXPECT_THAT(Message(literal.status()), StartsWith("[PJRT-B0"));
      EXPECT_LT(literal.status().message().size(), 600u);
    }
  }
}

TEST(NpyWriteTest, HeaderIsWhatNumpyWrites) {
  const auto bytes = LiteralToNpy(CreateR2<float>({{1, 2, 3}, {4, 5, 6}}));
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(bytes->substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_THAT(bytes->substr(10),
              StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  "));
  EXPECT_EQ((*bytes)[127], '\n');
  EXPECT_EQ(bytes->size(), 128u + 24);
  EXPECT_THAT(*LiteralToNpy(CreateR1<int8_t>({1})),
              HasSubstr("'|i1', 'fortran_order': False, 'shape': (1,), }"));
  EXPECT_THAT(*LiteralToNpy(CreateR0(true)),
              HasSubstr("'|b1', 'fortran_order': False, 'shape': (), }"));
}

TEST(NpyWriteTest, EveryTypeReadsBackTheSame) {
  for (int i = 1; i < kPrimitiveTypeLimit; ++i) {
    const auto type = static_cast<PrimitiveType>(i);
    if (!IsArrayType(type)) continue;
    Literal literal = *Literal::Make(MakeShape(type, {2, 3}));
    for (int64_t j = 0; j < 6; ++j) {
      const Literal value = *CreateScalar(S32, j - 2).Convert(type);
      std::memcpy(static_cast<char*>(literal.untyped_data()) + j * ByteWidth(type),
                  value.untyped_data(), static_cast<size_t>(ByteWidth(type)));
    }
    const auto bytes = LiteralToNpy(literal);
    ASSERT_TRUE(bytes.ok());
    const auto back = LiteralFromNpy(*bytes, type);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, literal) << PrimitiveTypeName(type);
  }
  EXPECT_THAT(*LiteralToNpy(CreateR0(bfloat16(1))), HasSubstr("'<u2'"));
  EXPECT_THAT(*LiteralToNpy(CreateR0(float8_e5m2(1))), HasSubstr("'|u1'"));
  EXPECT_THAT(*LiteralToNpy(CreateScalar(S4, 1)), HasSubstr("'|i1'"));
}

TEST(NpyWriteTest, LogicalOrderIsWrittenWhateverTheLayout) {
  Literal literal = *Literal::Make(MakeShapeWithLayout(S32, {37, 41}, {0, 1}));
  for (int64_t i = 0; i < 37 * 41; ++i) literal.SetLinear<int32_t>(i, static_cast<int32_t>(i));
  const auto back = LiteralFromNpy(*LiteralToNpy(literal));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(*back, literal);
  EXPECT_EQ(back->data<int32_t>()[1000], 1000);
}

TEST(NpyWriteTest, EmptyArraysAndScalarsReadBackTheSame) {
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{}, {0}, {2, 0, 3}, {1}}) {
    const Literal literal = *Literal::Make(MakeShape(F32, sizes));
    const auto back = LiteralFromNpy(*LiteralToNpy(literal));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, literal);
  }
}

TEST(NpyWriteTest, VeryLongHeadersUseVersionTwo) {
  const Literal literal = *Literal::Make(MakeShape(S8, std::vector<int64_t>(40000, 1)));
  const auto bytes = LiteralToNpy(literal);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ((*bytes)[6], '\2');
  EXPECT_EQ(*LiteralFromNpy(*bytes), literal);
}

TEST(NpyWriteTest, OnlyArraysCanBeWritten) {
  EXPECT_THAT(Message(LiteralToNpy(Literal()).status()), HasSubstr("[PJRT-B020]"));
  EXPECT_THAT(Message(LiteralToNpy(CreateToken()).status()), HasSubstr("[PJRT-B020]"));
}

TEST(NpyFileTest, WhatIsWrittenIsReadBack) {
  const std::string path = testing::TempDir() + "/pjrt_npy_test.npy";
  const Literal literal = CreateR2<double>({{1, 2}, {3, 4}});
  ASSERT_TRUE(WriteNpyFile(path, literal).ok());
  const auto back = ReadNpyFile(path);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, literal);
  EXPECT_THAT(Message(ReadNpyFile(path, F32).status()), StartsWith("[PJRT-B018] " + path + ": "));
  std::remove(path.c_str());
}

TEST(NpyFileTest, MissingFilesAndDirectoriesAreNamed) {
  const std::string missing = testing::TempDir() + "/pjrt_no_such_folder/x.npy";
  EXPECT_EQ(ReadNpyFile(missing).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Message(ReadNpyFile(missing).status()), HasSubstr(missing));
  EXPECT_THAT(Message(WriteNpyFile(missing, CreateR0(1.0f))), HasSubstr("[PJRT-B021]"));
  EXPECT_THAT(Message(ReadNpyFile(testing::TempDir()).status()), HasSubstr("[PJRT-B022]"));
  EXPECT_THAT(Message(WriteNpyFile(missing, Literal())), HasSubstr("[PJRT-B020]"));
}

}  // namespace
}  // namespace pjrt

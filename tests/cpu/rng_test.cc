// SPDX-License-Identifier: Apache-2.0
//
// rng_bit_generator against bits that XLA's CPU backend gave (for the all-zero and the all-one
// states they are the published answers of Threefry and Philox too), and rng's ranges and moments.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "pjrt/compile_options.h"
#include "pjrt/execute_options.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

std::string BitsProgram(const std::string& algorithm, int words, const std::string& type) {
  const std::string state = absl::StrCat("tensor<", words, "xui64>");
  return absl::StrCat("func.func @main(%s: ", state, ") -> (", state, ", tensor<", type,
                      ">) {\n  %n, %r = stablehlo.rng_bit_generator %s, algorithm = ", algorithm,
                      " : (", state, ") -> (", state, ", tensor<", type,
                      ">)\n  return %n, %r : ", state, ", tensor<", type, ">\n}\n");
}

struct Generated {
  std::vector<uint64_t> state;
  std::shared_ptr<Literal> result;
};

Generated Generate(PjRtClient& client, const std::string& algorithm,
                   const std::vector<uint64_t>& state, const std::string& type) {
  const Literal argument = Array<uint64_t>({static_cast<int64_t>(state.size())}, state);
  const auto results =
      RunProgram(client, BitsProgram(algorithm, static_cast<int>(state.size()), type), {&argument});
  EXPECT_TRUE(results.ok()) << results.status();
  if (!results.ok()) return {};
  return {Elements<uint64_t>(*(*results)[0]), (*results)[1]};
}

template <typename T>
std::vector<T> Numbers(const Generated& bits) {
  return bits.result == nullptr ? std::vector<T>() : Elements<T>(*bits.result);
}

// CRC-32 of zlib.
uint32_t Crc32(const void* data, size_t size) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; ++i) {
    crc ^= static_cast<const uint8_t*>(data)[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

template <typename T>
uint32_t CrcOf(const Generated& bits) {
  const std::vector<T> values = Numbers<T>(bits);
  return Crc32(values.data(), values.size() * sizeof(T));
}

using Words = std::vector<uint64_t>;
const Words kA = {0, 0};
const Words kB = {0x0123456789abcdef, 0xfffffffe};
const Words kC = {0x243f6a8885a308d3, 0xffffffffffffffff};
const Words kD = {0xffffffffffffffff, 0xfffffffffffffffe};
const Words kE = {0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e};
const Words kF = {0x0123456789abcdef, 0xffffffffffffffff, 5};
const Words kG = {1, 0xffffffffffffffff, 0xffffffffffffffff};

TEST(RngBitGeneratorTest, GivesTheKnownBitsForFiveElements) {
  struct Case {
    const char* algorithm;
    Words state;
    std::vector<uint32_t> u32;
    Words next32;  // without the key
    Words u64;     // the first two
    Words next64;
  };
  const Case cases[] = {
      {"THREE_FRY",
       kA,
       {0x6b200159, 0x99ba4efe, 0x508efb2c, 0xc0de3f32, 0x64a626ec},
       {3},
       {0x99ba4efe6b200159, 0xc0de3f32508efb2c},
       {5}},
      {"THREE_FRY",
       kB,
       {0xd6f05f18, 0x8ff237ca, 0x0af0500d, 0xae583773, 0xba3918c0},
       {0x100000001},
       {0x8ff237cad6f05f18, 0xae5837730af0500d},
       {0x100000003}},
      {"THREE_FRY",
       kC,
       {0x6418bbff, 0xc2ab5c0e, 0x41b022f8, 0x189103e4, 0xad4be2fa},
       {2},
       {0xc2ab5c0e6418bbff, 0x189103e441b022f8},
       {4}},
      {"THREE_FRY",
       kD,
       {0xba098332, 0x6445d151, 0x1cb996fc, 0xbb002be7, 0x413979c4},
       {1},
       {0x6445d151ba098332, 0xbb002be71cb996fc},
       {3}},
      {"PHILOX",
       kA,
       {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0xf8e4cca4},
       {2},
       {0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c},
       {3}},
      {"PHILOX",
       kB,
       {0x8185ea5f, 0xd5e1895c, 0x3df1bea9, 0x80f3855a, 0x079ef866},
       {0x100000000},
       {0xd5e1895c8185ea5f, 0x80f3855a3df1bea9},
       {0x100000001}},
      {"PHILOX",
       kC,
       {0xaac4dccd, 0x3e4d73ce, 0xc998e211, 0x2c698cda, 0xe5a394d0},
       {1},
       {0x3e4d73ceaac4dccd, 0x2c698cdac998e211},
       {2}},
      {"PHILOX",
       kD,
       {0x01840c58, 0xe3bb7da9, 0xb9965937, 0xa1c18b72, 0x408f276d},
       {0},
       {0xe3bb7da901840c58, 0xa1c18b72b9965937},
       {1}},
      {"PHILOX",
       kE,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1, 0x5757c6ce},
       {0x85a308d3243f6a8a, 0x0370734413198a2e},
       {0x94fdccebd16cfe09, 0x24126ea15001e420},
       {0x85a308d3243f6a8b, 0x0370734413198a2e}},
      {"PHILOX",
       kF,
       {0xf02791c6, 0xea2026ee, 0x4fe73934, 0xc174f57d, 0x15706cf1},
       {1, 6},
       {0xea2026eef02791c6, 0xc174f57d4fe73934},
       {2, 6}},
      {"PHILOX",
       kG,
       {0x73223991, 0x6e77ed02, 0x5cc13728, 0xa28e2dd9, 0xe3e80670},
       {1, 0},
       {0x6e77ed0273223991, 0xa28e2dd95cc13728},
       {2, 0}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.algorithm, " ", absl::Hex(c.state[0]), " ", absl::Hex(c.state[1])));
    // On the CPU the default is Philox.
    std::vector<std::string> names = {c.algorithm};
    if (names[0] == "PHILOX") names.push_back("DEFAULT");
    for (const std::string& algorithm : names) {
      Words next32 = c.next32, next64 = c.next64;
      next32.insert(next32.begin(), c.state[0]);
      next64.insert(next64.begin(), c.state[0]);
      const Generated narrow = Generate(OneThreadClient(), algorithm, c.state, "5xui32");
      EXPECT_EQ(Numbers<uint32_t>(narrow), c.u32);
      EXPECT_EQ(narrow.state, next32);
      const Generated wide = Generate(OneThreadClient(), algorithm, c.state, "5xui64");
      Words first = Numbers<uint64_t>(wide);
      first.resize(2);
      EXPECT_EQ(first, c.u64);
      EXPECT_EQ(wide.state, next64);
    }
  }
}

// The bits of an array of 32-bit and one of 64-bit words, by their checksums, and how far the state
// moves on.
struct Stream {
  const char* shape;
  uint32_t crc32, crc64;
  uint64_t blocks32, blocks64;
};

void CheckStreams(const std::string& algorithm, absl::Span<const Stream> streams) {
  for (const Stream& s : streams) {
    SCOPED_TRACE(s.shape);
    const Generated narrow =
        Generate(OneThreadClient(), algorithm, kC, absl::StrCat(s.shape, "ui32"));
    EXPECT_EQ(CrcOf<uint32_t>(narrow), s.crc32);
    EXPECT_EQ(narrow.state, (Words{kC[0], kC[1] + s.blocks32}));
    const Generated wide =
        Generate(OneThreadClient(), algorithm, kC, absl::StrCat(s.shape, "ui64"));
    EXPECT_EQ(CrcOf<uint64_t>(wide), s.crc64);
    EXPECT_EQ(wide.state, (Words{kC[0], kC[1] + s.blocks64}));
  }
}

TEST(RngBitGeneratorTest, PairsNeighboursAlongTheFirstEvenDimensionForThreefry) {
  const Stream streams[] = {
      {"1x", 0xfe8ef504, 0x5fccf5f7, 1, 1},         {"3x", 0x8864e766, 0x291c9e3f, 2, 3},
      {"7x", 0x2841b008, 0x8e52fd0e, 4, 7},         {"33x", 0xb4999cb5, 0x53d9a41a, 17, 33},
      {"3x5x", 0x2e13c63c, 0x9f73b77f, 9, 15},      {"5x3x", 0x4fb565fd, 0x9f73b77f, 9, 15},
      {"5x5x", 0x150ad874, 0xdc8505f1, 15, 25},     {"3x3x3x", 0x18feef8c, 0xda8ad448, 18, 27},
      {"5x4x", 0x77a5d49e, 0xd2bd50c6, 10, 20},     {"4x5x", 0x8a698e20, 0xd2bd50c6, 10, 20},
      {"2x2x3x", 0xca092601, 0xf3e7edd8, 6, 12},    {"3x2x4x", 0x4037a492, 0x0868010e, 12, 24},
      {"7x5x7x", 0x7be5df1e, 0x9daf93cf, 140, 245}, {"", 0xfe8ef504, 0x5fccf5f7, 1, 1},
  };
  CheckStreams("THREE_FRY", streams);
}

TEST(RngBitGeneratorTest, IsAStreamInRowMajorOrderForPhilox) {
  const Stream streams[] = {
      {"1x", 0xb8657d2f, 0x1c9f5cf4, 1, 1},        {"3x", 0xb6dd0d90, 0x4079c117, 1, 2},
      {"7x", 0x5eefaca4, 0x1e441e85, 2, 4},        {"3x5x", 0x1c2e30d4, 0xe0fc4eba, 4, 8},
      {"5x3x", 0x1c2e30d4, 0xe0fc4eba, 4, 8},      {"33x", 0xb2abd4ad, 0xf8e54aeb, 9, 17},
      {"7x5x7x", 0xe5f186ba, 0x1b1eb3c1, 62, 123}, {"", 0xb8657d2f, 0x1c9f5cf4, 1, 1},
  };
  CheckStreams("PHILOX", streams);
}

TEST(RngBitGeneratorTest, NarrowTypesTakeTheLowBitsOfWords) {
  const std::vector<uint8_t> threefry8 = {0x18, 0xca, 0x0d, 0x73, 0xc0, 0xa8, 0x48, 0xc2, 0x5f};
  const std::vector<uint8_t> philox8 = {0x5f, 0x5c, 0xa9, 0x5a, 0x66, 0xe8, 0x89, 0x99, 0xd8};
  for (const auto& [algorithm, expected] :
       {std::make_pair("THREE_FRY", threefry8), std::make_pair("PHILOX", philox8)}) {
    const Generated bits = Generate(OneThreadClient(), algorithm, kB, "9xui8");
    EXPECT_EQ(Numbers<uint8_t>(bits), expected);
    const uint64_t blocks = std::string(algorithm) == "PHILOX" ? 3 : 5;
    EXPECT_EQ(bits.state, (Words{kB[0], kB[1] + blocks})) << algorithm;
    const std::vector<uint8_t> nibbles =
        Numbers<uint8_t>(Generate(OneThreadClient(), algorithm, kB, "9xui4"));
    const std::vector<int8_t> signed_pairs =
        Numbers<int8_t>(Generate(OneThreadClient(), algorithm, kB, "9xi2"));
    ASSERT_EQ(nibbles.size(), 9u);
    ASSERT_EQ(signed_pairs.size(), 9u);
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ(nibbles[i], expected[i] & 15);
      EXPECT_EQ(signed_pairs[i], (expected[i] & 3) - (expected[i] & 2 ? 4 : 0));
    }
  }
  EXPECT_EQ(Numbers<uint16_t>(Generate(OneThreadClient(), "THREE_FRY", kB, "9xui16")),
            (std::vector<uint16_t>{0x5f18, 0x37ca, 0x500d, 0x3773, 0x18c0, 0x10a8, 0x0d48, 0xc1c2,
                                   0x725f}));
  EXPECT_EQ(Numbers<uint16_t>(Generate(OneThreadClient(), "PHILOX", kB, "9xui16")),
            (std::vector<uint16_t>{0xea5f, 0x895c, 0xbea9, 0x855a, 0xf866, 0x6ce8, 0x1d89, 0x5799,
                                   0x93d8}));
  EXPECT_EQ(CrcOf<uint8_t>(Generate(OneThreadClient(), "THREE_FRY", kC, "3x5xui8")), 0x45d0e3d0u);
  EXPECT_EQ(CrcOf<uint16_t>(Generate(OneThreadClient(), "THREE_FRY", kC, "3x5xui16")), 0x1fb98abbu);
  EXPECT_EQ(CrcOf<uint8_t>(Generate(OneThreadClient(), "THREE_FRY", kC, "5x3xui8")), 0x77caa188u);
  EXPECT_EQ(CrcOf<uint16_t>(Generate(OneThreadClient(), "THREE_FRY", kC, "5x3xui16")), 0x3ba04347u);
  EXPECT_EQ(CrcOf<uint8_t>(Generate(OneThreadClient(), "PHILOX", kC, "5x3xui8")), 0x3ad9f188u);
  EXPECT_EQ(CrcOf<uint16_t>(Generate(OneThreadClient(), "PHILOX", kC, "3x5xui16")), 0x77fc8850u);
}

TEST(RngBitGeneratorTest, FloatsAndSignedIntegersGetTheSameBits) {
  for (const char* algorithm : {"THREE_FRY", "PHILOX"}) {
    const std::vector<uint32_t> words =
        Numbers<uint32_t>(Generate(OneThreadClient(), algorithm, kB, "17xui32"));
    const std::vector<int32_t> integers =
        Numbers<int32_t>(Generate(OneThreadClient(), algorithm, kB, "17xi32"));
    const std::vector<float> floats =
        Numbers<float>(Generate(OneThreadClient(), algorithm, kB, "17xf32"));
    ASSERT_EQ(floats.size(), words.size());
    ASSERT_EQ(integers.size(), words.size());
    EXPECT_EQ(std::memcmp(words.data(), integers.data(), 68), 0);
    EXPECT_EQ(std::memcmp(words.data(), floats.data(), 68), 0);
  }
}

TEST(RngBitGeneratorTest, AnEmptyResultLeavesTheState) {
  for (const char* algorithm : {"THREE_FRY", "PHILOX"}) {
    for (const char* type : {"0x3xui32", "3x0xui64"})
      EXPECT_EQ(Generate(OneThreadClient(), algorithm, kB, type).state, kB);
  }
}

TEST(RngBitGeneratorTest, ThreadsChangeNothing) {
  const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(4));
  for (const char* algorithm : {"THREE_FRY", "PHILOX"}) {
    for (const char* type : {"301x303xui32", "200000xui8", "70001xui64", "3x40001xui16"}) {
      const Generated one = Generate(OneThreadClient(), algorithm, kC, type),
                      many = Generate(*client, algorithm, kC, type);
      ASSERT_NE(many.result, nullptr);
      EXPECT_EQ(*one.result, *many.result) << algorithm << " " << type;
      EXPECT_EQ(one.state, many.state);
    }
  }
}

TEST(RngBitGeneratorTest, RefusesStatesOfOtherTypes) {
  const auto four = RunProgram(OneThreadClient(), R"(
    func.func @main(%s: tensor<4xui32>) -> (tensor<4xui32>, tensor<5xui32>) {
      %n, %r = stablehlo.rng_bit_generator %s, algorithm = DEFAULT : (tensor<4xui32>) -> (tensor<4xui32>, tensor<5xui32>)
      return %n, %r : tensor<4xui32>, tensor<5xui32>
    })");
  EXPECT_EQ(four.status().code(), absl::StatusCode::kUnimplemented) << four.status();
}

std::string RngProgram(const std::string& distribution, const std::string& element,
                       const std::string& a, const std::string& b, int64_t count) {
  const std::string scalar = absl::StrCat("tensor<", element, ">"),
                    result = absl::StrCat("tensor<", count, "x", element, ">");
  return absl::StrCat(
      "func.func @main() -> ", result, " {\n  %a = stablehlo.constant dense<", a, "> : ", scalar,
      "\n  %b = stablehlo.constant dense<", b, "> : ", scalar, "\n  %s = stablehlo.constant dense<",
      count, "> : tensor<1xi64>\n  %r = stablehlo.rng %a, %b, %s, distribution = ", distribution,
      " : (", scalar, ", ", scalar, ", tensor<1xi64>) -> ", result, "\n  return %r : ", result,
      "\n}\n");
}

struct Moments {
  double low = INFINITY, high = -INFINITY, mean = 0, variance = 0, neighbours = 0;
};

template <typename T>
Moments MomentsOf(const std::vector<T>& values) {
  Moments m;
  const double n = static_cast<double>(values.size());
  for (T value : values) {
    const double x = static_cast<double>(value);
    m.low = std::min(m.low, x);
    m.high = std::max(m.high, x);
    m.mean += x / n;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = static_cast<double>(values[i]) - m.mean;
    m.variance += x * x / n;
    if (i > 0) m.neighbours += x * (static_cast<double>(values[i - 1]) - m.mean) / n;
  }
  m.neighbours /= m.variance;
  return m;
}

template <typename T>
void ExpectUniform(const std::string& element, double a, double b, const std::string& a_text,
                   const std::string& b_text, double step) {
  const Moments m = MomentsOf(RunOne<T>(RngProgram("UNIFORM", element, a_text, b_text, 100001)));
  const double width = b - a;
  EXPECT_GE(m.low, a) << element;
  EXPECT_LT(m.high, b) << element;
  EXPECT_NEAR(m.mean, a + (width - step) / 2, 0.01 * width) << element;
  EXPECT_NEAR(m.variance, width * width / 12, 0.02 * width * width) << element;
  EXPECT_NEAR(m.neighbours, 0, 0.015) << element;
}

TEST(RngTest, UniformNumbersFillTheirRange) {
  ExpectUniform<float>("f32", -3, 5, "-3.0", "5.0", 0);
  ExpectUniform<double>("f64", 1, 2, "1.0", "2.0", 0);
  ExpectUniform<half>("f16", -1, 1, "-1.0", "1.0", 0);
  ExpectUniform<bfloat16>("bf16", 0, 1, "0.0", "1.0", 0);
  ExpectUniform<bfloat16>("bf16", -1, 0, "-1.0", "0.0", 0);
  ExpectUniform<int32_t>("i32", -1000, 3000, "-1000", "3000", 1);
  ExpectUniform<int64_t>("i64", -1e18, 1e18, "-1000000000000000000", "1000000000000000000", 1);
  ExpectUniform<uint8_t>("ui8", 10, 250, "10", "250", 1);
  ExpectUniform<int8_t>("i8", -128, 127, "-128", "127", 1);
  ExpectUniform<uint64_t>("ui64", 0, 1e19, "0", "10000000000000000000", 1);
}

TEST(RngTest, NormalNumbersHaveTheirMoments) {
  for (const char* element : {"f32", "f64", "bf16", "f16"}) {
    const std::string text = RngProgram("NORMAL", element, "2.0", "3.0", 100001);
    const Moments m = std::string(element) == "f32"   ? MomentsOf(RunOne<float>(text))
                      : std::string(element) == "f64" ? MomentsOf(RunOne<double>(text))
                      : std::string(element) == "f16" ? MomentsOf(RunOne<half>(text))
                                                      : MomentsOf(RunOne<bfloat16>(text));
    EXPECT_NEAR(m.mean, 2, 0.05) << element;
    EXPECT_NEAR(m.variance, 9, 0.2) << element;
    EXPECT_NEAR(m.neighbours, 0, 0.015) << element;
    EXPECT_GT(m.high, 2 + 3 * 3.5) << element;
    EXPECT_LT(m.low, 2 - 3 * 3.5) << element;
    EXPECT_LT(m.high, 2 + 3 * 8.7) << element;
  }
}

TEST(RngTest, EqualSeedsGiveEqualNumbersAndOtherSeedsOthers) {
  const std::string text = RngProgram("UNIFORM", "f32", "0.0", "1.0", 16);
  const auto executable = OneThreadClient().Compile(text, CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  const auto draw = [&](int64_t seed) {
    ExecuteOptions options;
    options.seed = seed;
    const auto results = (*executable)->Execute({{}}, options);
    EXPECT_TRUE(results.ok()) << results.status();
    return results.ok() ? Elements<float>(*(*results)[0][0]->ToLiteralSync().value())
                        : std::vector<float>();
  };
  EXPECT_EQ(draw(0), draw(0));
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(0), draw(7));
  EXPECT_NE(draw(7), draw(8));
}

TEST(RngTest, StepsAndIterationsDrawDifferentNumbers) {
  const std::vector<float> drawn = RunOne<float>(R"(
    func.func @main() -> tensor<3xf32> {
      %a = stablehlo.constant dense<0.0> : tensor<f32>
      %b = stablehlo.constant dense<1.0> : tensor<f32>
      %s = stablehlo.constant dense<1> : tensor<1xi64>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %none = stablehlo.constant dense<0.0> : tensor<3xf32>
      %r:2 = stablehlo.while(%i = %zero, %x = %none) : tensor<i32>, tensor<3xf32>
      cond {
        %n = stablehlo.constant dense<3> : tensor<i32>
        %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %u = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1xf32>
        %y = stablehlo.dynamic_update_slice %x, %u, %i : (tensor<3xf32>, tensor<1xf32>, tensor<i32>) -> tensor<3xf32>
        %next = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %next, %y : tensor<i32>, tensor<3xf32>
      }
      return %r#1 : tensor<3xf32>
    })");
  ASSERT_EQ(drawn.size(), 3u);
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_NE(drawn[1], drawn[2]);
  EXPECT_NE(drawn[0], drawn[2]);
}

}  // namespace
}  // namespace pjrt::cpu

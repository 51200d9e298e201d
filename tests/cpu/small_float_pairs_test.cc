// SPDX-License-Identifier: Apache-2.0
//
// Operations of two numbers of f8, f6 and f4 from memory to memory, which must give the bits that
// come by blocks of f32, for every pair of each format; and conversions to and from f32.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/kernel_test_util.h"
#include "tests/cpu/level_test.h"

namespace pjrt::cpu {
namespace {

constexpr int kNumPairs = 1 << 16;
constexpr std::pair<NarrowType, PrimitiveType> kSmallFloats[] = {
    {NarrowType::kF8E5M2, F8E5M2},         {NarrowType::kF8E4M3, F8E4M3},
    {NarrowType::kF8E3M4, F8E3M4},         {NarrowType::kF8E4M3FN, F8E4M3FN},
    {NarrowType::kF8E4M3FNUZ, F8E4M3FNUZ}, {NarrowType::kF8E5M2FNUZ, F8E5M2FNUZ},
    {NarrowType::kF8E8M0FNU, F8E8M0FNU},   {NarrowType::kF8E4M3B11FNUZ, F8E4M3B11FNUZ},
    {NarrowType::kF6E2M3FN, F6E2M3FN},     {NarrowType::kF6E3M2FN, F6E3M2FN},
    {NarrowType::kF4E2M1FN, F4E2M1FN}};

// Pair i is (i / 256, i % 256): also bytes with bits that f6 and f4 do not have.
Bytes First() {
  Bytes bytes(kNumPairs);
  for (int i = 0; i < kNumPairs; ++i) bytes[i] = static_cast<uint8_t>(i / 256);
  return bytes;
}
Bytes Second() {
  Bytes bytes(kNumPairs);
  for (int i = 0; i < kNumPairs; ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}

// What `kernels` give of all pairs by loads, `op` on f32 and a store.
Bytes PairsByF32(const BlockKernels& kernels, PrimitiveType type, BlockOp op) {
  const std::vector<float> a = Loaded(kernels, type, First()), b = Loaded(kernels, type, Second());
  if (op >= BlockOp::kCompareEq) return CallBinary<uint8_t>(kernels, op, CType::kF32, a, b);
  const std::vector<float> singles = CallBinary<float>(kernels, op, CType::kF32, a, b);
  Bytes results(kNumPairs);
  kernels.store[type](results.data(), singles.data(), kNumPairs);
  return results;
}

// Calls `check` with the forms of each function that a level has, its type and operation, and what
// it gives of all pairs.
template <typename Check>
void ForEachFunction(Check check) {
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (const auto& [narrow, memory] : kSmallFloats) {
      for (int op = 0; op < kNumBinaryBlockOps; ++op) {
        const BlockFn* const forms = kernels->narrow_binary[static_cast<int>(narrow)][op];
        if (forms[0] == nullptr) continue;
        SCOPED_TRACE(absl::StrCat(kernels->level, " binary operation ", op, " of type ", memory));
        Bytes results(kNumPairs);
        forms[0](results.data(), First().data(), Second().data(), nullptr, kNumPairs);
        check(*kernels, forms, memory, static_cast<BlockOp>(kNumUnaryBlockOps + op), results);
      }
    }
  }
}

TEST(SmallFloatPairsTest, HaveTheBitsOfTheWayThroughF32) {
  ForEachFunction([&](const BlockKernels& kernels, const BlockFn*, PrimitiveType type, BlockOp op,
                      const Bytes& got) {
    const Bytes want = PairsByF32(kernels, type, op);
    const std::vector<float> numbers = Loaded(kernels, type, Second());
    Bytes same(256);
    kernels.store[type](same.data(), numbers.data(), 256);
    for (int i = 0; i < kNumPairs; ++i) {
      const int a = i / 256, b = i % 256;
      if (op < BlockOp::kCompareEq && std::isnan(numbers[a]) && std::isnan(numbers[b])) {
        // Either may come out.
        ASSERT_TRUE(got[i] == same[a] || got[i] == same[b]) << a << " and " << b << " : " << got[i];
      } else {
        ASSERT_EQ(got[i], want[i]) << a << " and " << b;
      }
    }
  });
}

TEST(SmallFloatPairsTest, AreTheSameInPlaceAndForOneElementAndAll) {
  ForEachFunction([&](const BlockKernels&, const BlockFn* forms, PrimitiveType, BlockOp,
                      const Bytes& want) {
    Bytes got = First();
    forms[0](got.data(), got.data(), Second().data(), nullptr, kNumPairs);
    EXPECT_EQ(got, want) << "in place of the first";
    got = Second();
    forms[0](got.data(), First().data(), got.data(), nullptr, kNumPairs);
    EXPECT_EQ(got, want) << "in place of the second";
    const Bytes all = Second();
    for (int i = 0; i < 256; ++i) {
      const uint8_t one = static_cast<uint8_t>(i);
      Bytes with_all(256), want_with_all(256);
      forms[static_cast<int>(Scalars::kFirst)](with_all.data(), &one, all.data(), nullptr, 256);
      for (int j = 0; j < 256; ++j) want_with_all[j] = want[i * 256 + j];
      ASSERT_EQ(with_all, want_with_all) << i << " first";
      forms[static_cast<int>(Scalars::kSecond)](with_all.data(), all.data(), &one, nullptr, 256);
      for (int j = 0; j < 256; ++j) want_with_all[j] = want[j * 256 + i];
      ASSERT_EQ(with_all, want_with_all) << i << " second";
    }
  });
}

TEST(SmallFloatPairsTest, DoNotDependOnPlaceOrCount) {
  ForEachFunction(
      [&](const BlockKernels&, const BlockFn* forms, PrimitiveType, BlockOp, const Bytes& all) {
        for (int n = 0; n <= 140; ++n) {
          for (int offset : {0, 1, 33}) {
            Bytes a(offset + n), b(offset + n), want(offset + n + 1, 0x55), got = want;
            Bytes want_one = want, got_one = want;
            const uint8_t one = static_cast<uint8_t>(n * 7);
            for (int i = offset; i < offset + n; ++i) {
              a[i] = static_cast<uint8_t>(n * 37 + i * 11);
              b[i] = static_cast<uint8_t>(n * 5 + i * 31);
              want[i] = all[a[i] * 256 + b[i]];
              want_one[i] = all[a[i] * 256 + one];
            }
            forms[0](got.data() + offset, a.data() + offset, b.data() + offset, nullptr, n);
            ASSERT_EQ(got, want) << n << " at " << offset;
            forms[static_cast<int>(Scalars::kSecond)](got_one.data() + offset, a.data() + offset,
                                                      &one, nullptr, n);
            ASSERT_EQ(got_one, want_one) << n << " at " << offset << " with one";
          }
        }
      });
}

// Of all upper halves of f32 with the lowest bits, the highest ones and around the middle, which
// has the numbers halfway between two of each format and their neighbours.
TEST(SmallFloatConversionsTest, HaveTheSameBitsAtEachLevel) {
  std::vector<float> singles;
  for (uint32_t upper = 0; upper < 1 << 16; ++upper) {
    for (const uint32_t lower : {0x0000u, 0x0001u, 0x8000u, 0xffffu})
      singles.push_back(absl::bit_cast<float>(upper << 16 | lower));
  }
  const int64_t n = static_cast<int64_t>(singles.size());
  const auto bits_of = [](const std::vector<float>& floats) {
    std::vector<uint32_t> bits;
    for (float x : floats) bits.push_back(absl::bit_cast<uint32_t>(x));
    return bits;
  };
  Bytes codes = Second();
  codes.resize(256);
  const std::vector<const BlockKernels*> levels = SupportedBlockKernels();
  for (const auto& [narrow, type] : kSmallFloats) {
    Bytes stored[2] = {Bytes(n), Bytes(n)};
    std::vector<float> rounded[2] = {std::vector<float>(n), std::vector<float>(n)};
    for (const BlockKernels* level : levels) {
      SCOPED_TRACE(absl::StrCat(level->level, " type ", type));
      const int which = level == levels[0] ? 0 : 1;
      Bytes& bytes = stored[which];
      std::vector<float>& floats = rounded[which];
      level->store[type](bytes.data(), singles.data(), n);
      level->round_to[type](floats.data(), singles.data(), n);
      ASSERT_EQ(bytes, stored[0]);
      ASSERT_EQ(bits_of(floats), bits_of(rounded[0]));
      ASSERT_EQ(bits_of(Loaded(*level, type, codes)), bits_of(Loaded(*levels[0], type, codes)));
    }
  }
}

class SmallFloatPairProgramsTest : public LevelTest {
 protected:
  // Operations of two arrays, of one and an argument that is one number, and of every other number
  // of an array, against those of SmallFloat.
  template <typename T>
  void Check(PrimitiveType type, const std::string& element) {
    std::vector<T> x, y;
    for (int i = 0; i < kNumPairs; ++i) {
      x.push_back(T::FromBits(static_cast<uint8_t>(i / 256 & ((1 << T::kBits) - 1))));
      y.push_back(T::FromBits(static_cast<uint8_t>(i & ((1 << T::kBits) - 1))));
    }
    const Literal first = Array<T>(type, {kNumPairs}, x), second = Array<T>(type, {kNumPairs}, y);
    const T single(-3.0f);
    const Literal one = Array<T>(type, {}, {single});
    const auto run = [&](const std::string& body, const std::string& result) {
      const std::string text = absl::Substitute(
          "func.func @main(%x: $0, %y: $0, %s: $1) -> $2 {\n"
          "  %d = stablehlo.broadcast_in_dim %s, dims = [] : ($1) -> $0\n"
          "$3  return %r : $2\n}\n",
          TensorText({kNumPairs}, element), TensorText({}, element), result, body);
      const auto results = RunProgram(client(), text, {&first, &second, &one});
      EXPECT_TRUE(results.ok()) << results.status() << text;
      return results.ok() ? (*results)[0] : nullptr;
    };
    const std::string whole = TensorText({kNumPairs}, element);
    const auto check = [&](const std::string& op, T (*want)(T, T)) {
      SCOPED_TRACE(absl::StrCat(op, " of ", element));
      const auto equal = [&](T got, T a, T b) {
        const T expected = want(a, b);
        return got.bits() == expected.bits() || (got.IsNan() && expected.IsNan());
      };
      const auto pairs = run(absl::Substitute("  %r = $0 %x, %y : $1\n", op, whole), whole);
      const auto with_one = run(absl::Substitute("  %r = $0 %d, %y : $1\n", op, whole), whole);
      const auto fused =
          run(absl::Substitute("  %0 = $0 %x, %y : $1\n  %r = $0 %0, %x : $1\n", op, whole), whole);
      const std::string half = TensorText({kNumPairs / 2}, element);
      const auto some = run(absl::Substitute("  %0 = stablehlo.slice %x [1:65536:2] : ($1) -> $2\n"
                                             "  %1 = stablehlo.slice %y [0:65536:2] : ($1) -> $2\n"
                                             "  %r = $0 %0, %1 : $2\n",
                                             op, whole, half),
                            half);
      if (!pairs || !with_one || !fused || !some) return;
      const auto p = Elements<T>(*pairs), o = Elements<T>(*with_one), f = Elements<T>(*fused),
                 s = Elements<T>(*some);
      for (int i = 0; i < kNumPairs; ++i) {
        ASSERT_TRUE(equal(p[i], x[i], y[i])) << i << " " << p[i].ToFloat();
        ASSERT_TRUE(equal(o[i], single, y[i])) << i << " " << o[i].ToFloat();
        ASSERT_TRUE(equal(f[i], p[i], x[i])) << i << " " << f[i].ToFloat();
        const int odd = i | 1;
        ASSERT_TRUE(equal(s[i / 2], x[odd], y[odd - 1])) << i;
      }
    };
    check("stablehlo.add", [](T a, T b) { return a + b; });
    check("stablehlo.subtract", [](T a, T b) { return a - b; });
    check("stablehlo.multiply", [](T a, T b) { return a * b; });
    check("stablehlo.divide", [](T a, T b) { return a / b; });
    check("stablehlo.maximum", [](T a, T b) {
      const float p = a.ToFloat(), q = b.ToFloat();
      if (std::isnan(p) || std::isnan(q)) return T(p + q);
      return p == q ? (std::signbit(p) ? b : a) : p > q ? a : b;
    });
    for (const auto& [direction, op] :
         {std::pair{"LT", BlockOp::kCompareLt}, std::pair{"GE", BlockOp::kCompareGe},
          std::pair{"NE", BlockOp::kCompareNe}}) {
      for (const bool with_one : {false, true}) {
        const auto result = run(
            absl::Substitute("  %r = stablehlo.compare $0, $1, %y : ($2, $2) -> $3\n", direction,
                             with_one ? "%d" : "%x", whole, TensorText({kNumPairs}, "i1")),
            TensorText({kNumPairs}, "i1"));
        if (!result) return;
        const auto got = Elements<bool>(*result);
        for (int i = 0; i < kNumPairs; ++i) {
          const float a = (with_one ? single : x[i]).ToFloat(), b = y[i].ToFloat();
          const bool want = op == BlockOp::kCompareLt   ? a < b
                            : op == BlockOp::kCompareGe ? a >= b
                                                        : a != b;
          ASSERT_EQ(got[i], want) << direction << " of " << a << " and " << b;
        }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, SmallFloatPairProgramsTest, EachLevel(), LevelName);

TEST_P(SmallFloatPairProgramsTest, AreThoseOfNumbers) {
  Check<float8_e5m2>(F8E5M2, "f8E5M2");
  Check<float8_e4m3>(F8E4M3, "f8E4M3");
  Check<float8_e3m4>(F8E3M4, "f8E3M4");
  Check<float8_e4m3fn>(F8E4M3FN, "f8E4M3FN");
  Check<float8_e4m3fnuz>(F8E4M3FNUZ, "f8E4M3FNUZ");
  Check<float8_e5m2fnuz>(F8E5M2FNUZ, "f8E5M2FNUZ");
  Check<float8_e4m3b11fnuz>(F8E4M3B11FNUZ, "f8E4M3B11FNUZ");
  Check<float6_e2m3fn>(F6E2M3FN, "f6E2M3FN");
  Check<float6_e3m2fn>(F6E3M2FN, "f6E3M2FN");
  Check<float4_e2m1fn>(F4E2M1FN, "f4E2M1FN");
}

}  // namespace
}  // namespace pjrt::cpu

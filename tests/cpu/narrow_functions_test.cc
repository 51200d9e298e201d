// SPDX-License-Identifier: Apache-2.0
//
// Functions of bf16 and f16 from memory to memory, which must give the bits that come by blocks of
// f32, for every argument and many pairs of them.
#include "src/cpu_device/loop/narrow_functions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
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

constexpr int kNumWords = 1 << 16;
constexpr std::pair<NarrowType, PrimitiveType> kNarrowTypes[] = {{NarrowType::kBf16, BF16},
                                                                 {NarrowType::kF16, F16}};

std::vector<uint16_t> EachArgument() {
  std::vector<uint16_t> words(kNumWords);
  for (int i = 0; i < kNumWords; ++i) words[i] = static_cast<uint16_t>(i);
  return words;
}

// What `kernels` give of all arguments by load, `op` on f32 and store.
std::vector<uint16_t> ByF32(const BlockKernels& kernels, PrimitiveType type, BlockOp op) {
  std::vector<float> singles(kNumWords);
  kernels.load[type](singles.data(), EachArgument().data(), kNumWords);
  singles = CallUnary<float>(kernels, op, CType::kF32, singles);
  std::vector<uint16_t> results(kNumWords);
  kernels.store[type](results.data(), singles.data(), kNumWords);
  return results;
}

// Calls `check` with each function that a level has, its type and operation.
template <typename Check>
void ForEachFunction(const BlockKernels& kernels, Check check) {
  for (const auto& [narrow, memory] : kNarrowTypes) {
    for (int op = 0; op < kNumUnaryBlockOps; ++op) {
      const BlockFn fn = kernels.narrow[static_cast<int>(narrow)][op];
      if (fn == nullptr) continue;
      SCOPED_TRACE(absl::StrCat(kernels.level, " operation ", op, " of type ", memory));
      check(fn, memory, static_cast<BlockOp>(op));
    }
  }
}

TEST(NarrowFunctionsTest, HaveTheBitsOfTheWayThroughF32) {
  const std::vector<uint16_t> arguments = EachArgument();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    ForEachFunction(*kernels, [&](BlockFn fn, PrimitiveType type, BlockOp op) {
      const std::vector<uint16_t> want = ByF32(*kernels, type, op);
      std::vector<uint16_t> got(kNumWords);
      fn(got.data(), arguments.data(), nullptr, nullptr, kNumWords);
      for (int i = 0; i < kNumWords; ++i) {
        ASSERT_EQ(got[i], want[i]) << "of " << i;
      }
      got = arguments;
      fn(got.data(), got.data(), nullptr, nullptr, kNumWords);
      EXPECT_EQ(got, want) << "in place";
    });
  }
}

TEST(NarrowFunctionsTest, DoNotDependOnPlaceOrCount) {
  // Of all sizes and signs, among them angles that take a way of their own.
  constexpr int kMost = 70, kStep = 911;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    ForEachFunction(*kernels, [&](BlockFn fn, PrimitiveType type, BlockOp op) {
      const std::vector<uint16_t> all = ByF32(*kernels, type, op);
      for (int n = 0; n <= kMost; ++n) {
        for (int offset : {0, 1, 3, 32}) {
          std::vector<uint16_t> a(offset + n), want(offset + n + 1, 0x1234), got = want;
          for (int i = 0; i < n; ++i) {
            a[offset + i] = static_cast<uint16_t>((n * 37 + i) * kStep);
            want[offset + i] = all[a[offset + i]];
          }
          fn(got.data() + offset, a.data() + offset, nullptr, nullptr, n);
          ASSERT_EQ(got, want) << n << " at " << offset;
        }
      }
    });
  }
}

std::vector<uint16_t> Stored(const BlockKernels& kernels, PrimitiveType type,
                             const std::vector<float>& singles) {
  std::vector<uint16_t> words(singles.size());
  kernels.store[type](words.data(), singles.data(), static_cast<int64_t>(singles.size()));
  return words;
}
// What `kernels` give of f32 by `op` and a store.
std::vector<uint16_t> ByF32(const BlockKernels& kernels, PrimitiveType type, BlockOp op,
                            const std::vector<float>& a, const std::vector<float>& b) {
  return Stored(kernels, type, CallBinary<float>(kernels, op, CType::kF32, a, b));
}

// Of two NaNs, either is the result of these: compilers choose which one a sum keeps.
bool KeepsEitherNan(BlockOp op) {
  constexpr BlockOp kOps[] = {BlockOp::kAdd,    BlockOp::kSubtract, BlockOp::kMultiply,
                              BlockOp::kDivide, BlockOp::kMaximum,  BlockOp::kMinimum};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}
bool AreBothNan(PrimitiveType type, uint16_t a, uint16_t b) {
  const int infinity = type == BF16 ? 0x7f80 : 0x7c00;
  return (a & 0x7fff) > infinity && (b & 0x7fff) > infinity;
}
bool IsEither(PrimitiveType type, uint16_t result, uint16_t a, uint16_t b) {
  const int quiet = type == BF16 ? 0x40 : 0x200;
  return result == (a | quiet) || result == (b | quiet);
}
void ExpectSame(PrimitiveType type, BlockOp op, const std::vector<uint16_t>& a,
                const std::vector<uint16_t>& b, const std::vector<uint16_t>& got,
                const std::vector<uint16_t>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (KeepsEitherNan(op) && AreBothNan(type, a[i], b[i])) {
      ASSERT_TRUE(IsEither(type, got[i], a[i], b[i]))
          << got[i] << " of " << a[i] << " and " << b[i];
    } else {
      ASSERT_EQ(got[i], want[i]) << "of " << a[i] << " and " << b[i];
    }
  }
}

// Calls `check` with the forms of each binary function that a level has, its type and operation.
template <typename Check>
void ForEachBinaryFunction(const BlockKernels& kernels, Check check) {
  for (const auto& [narrow, memory] : kNarrowTypes) {
    for (int op = 0; op < kNumBinaryBlockOps; ++op) {
      const BlockFn* const forms = kernels.narrow_binary[static_cast<int>(narrow)][op];
      if (forms[0] == nullptr) continue;
      SCOPED_TRACE(absl::StrCat(kernels.level, " binary operation ", op, " of type ", memory));
      check(forms, memory, static_cast<BlockOp>(kNumUnaryBlockOps + op));
    }
  }
}

TEST(NarrowFunctionsTest, OfTwoHaveTheBitsOfTheWayThroughF32) {
  std::mt19937 random(11);
  const std::vector<uint16_t> first = EachArgument();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    ForEachBinaryFunction(*kernels, [&](const BlockFn* forms, PrimitiveType type, BlockOp op) {
      for (int round = 0; round < 30; ++round) {
        std::vector<uint16_t> second(kNumWords), got(kNumWords);
        for (uint16_t& word : second) word = static_cast<uint16_t>(random());
        const std::vector<uint16_t> want = ByF32(*kernels, type, op, Loaded(*kernels, type, first),
                                                 Loaded(*kernels, type, second));
        forms[0](got.data(), first.data(), second.data(), nullptr, kNumWords);
        ExpectSame(type, op, first, second, got, want);
        std::vector<uint16_t> in_place = first;
        forms[0](in_place.data(), in_place.data(), second.data(), nullptr, kNumWords);
        EXPECT_EQ(in_place, got) << "in place of the first";
        forms[0](second.data(), first.data(), second.data(), nullptr, kNumWords);
        EXPECT_EQ(second, got) << "in place of the second";
      }
    });
  }
}

// Also where a result is so near the middle of two numbers that the last digit of f32 tells.
TEST(NarrowFunctionsTest, PowersHaveTheSameBitsAtAllLevels) {
  constexpr int kPower = static_cast<int>(BlockOp::kNarrowPower) - kNumUnaryBlockOps;
  const std::vector<uint16_t> bases = EachArgument();
  std::vector<uint16_t> result(kNumWords), other(kNumWords);
  std::mt19937 random(17);
  for (NarrowType type : {NarrowType::kBf16, NarrowType::kF16}) {
    BlockFn first = nullptr;
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      const BlockFn power =
          kernels
              ->narrow_binary[static_cast<int>(type)][kPower][static_cast<int>(Scalars::kSecond)];
      if (first == nullptr || power == nullptr) {
        first = power;
        continue;
      }
      for (int i = 0; i < 200; ++i) {
        // Of 7 digits, as numbers of either type.
        const float exponent = std::ldexp(static_cast<float>(random() % 256) - 128,
                                          static_cast<int>(random() % 16) - 14);
        first(result.data(), bases.data(), &exponent, nullptr, kNumWords);
        power(other.data(), bases.data(), &exponent, nullptr, kNumWords);
        EXPECT_EQ(result, other) << kernels->level << " of exponent " << exponent;
      }
    }
  }
}

// Whatever the others are, of which the logarithm may be 0, and in each lane.
TEST(NarrowFunctionsTest, OfOnePairAmongUsualOnesIsWhatItIsAlone) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN();
  constexpr std::pair<float, float> kPairs[] = {{0, 0.5f},       {-0.0f, -3},     {0, 0},
                                                {kInfinity, 2},  {-kInfinity, 3}, {1, kInfinity},
                                                {2, -kInfinity}, {kQuietNan, 1},  {2, kQuietNan},
                                                {-2, 0.5f},      {-2, 3}};
  constexpr int kSome = 192;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    ForEachBinaryFunction(*kernels, [&](const BlockFn* forms, PrimitiveType type, BlockOp) {
      for (const auto& [x, y] : kPairs) {
        for (float usual : {1.0f, 3.0f}) {
          std::vector<float> a(kSome, usual), b(kSome, 0.75f);
          a[0] = x;
          b[0] = y;
          std::vector<uint16_t> first(kSome), second(kSome), want(2), got(kSome);
          kernels->store[type](first.data(), a.data(), kSome);
          kernels->store[type](second.data(), b.data(), kSome);
          forms[0](&want[0], first.data(), second.data(), nullptr, 1);
          forms[0](&want[1], &first[1], &second[1], nullptr, 1);
          for (int at = 0; at < kSome; ++at) {
            forms[0](got.data(), first.data(), second.data(), nullptr, kSome);
            for (int i = 0; i < kSome; ++i)
              ASSERT_EQ(got[i], want[i == at ? 0 : 1]) << i << " of " << x << " and " << y;
            if (at + 1 == kSome) break;
            std::swap(first[at], first[at + 1]);
            std::swap(second[at], second[at + 1]);
          }
        }
      }
    });
  }
}

TEST(NarrowFunctionsTest, OfTwoUsualNumbersHaveTheBitsOfTheWayThroughF32) {
  // No infinity, NaN or zero among the first, which all take the usual way together.
  std::mt19937 random(13);
  std::uniform_real_distribution<float> size(0.05f, 20.0f);
  const float seconds[] = {0,    -0.0f,   1,     -1,     2,      3,        -5,     0.5f,
                           1.5f, -2.5f,   0.75f, 0.125f, 1e-7f,  7.5f,     127,    128,
                           255,  -256.0f, 1023,  1025,   2048,   -4096,    511.5f, 12.5f,
                           31,   0.3f,    63.5f, 257,    -0.25f, 0x1p-24f, 30000,  16.25f};
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    ForEachBinaryFunction(*kernels, [&](const BlockFn* forms, PrimitiveType type, BlockOp op) {
      for (bool negative : {false, true}) {
        std::vector<float> a(kNumWords), b(kNumWords);
        for (int i = 0; i < kNumWords; ++i) {
          a[i] = size(random) * (negative && random() % 2 != 0 ? -1 : 1);
          b[i] = i % 2 != 0 ? seconds[random() % std::size(seconds)] : size(random) - 10;
        }
        std::vector<uint16_t> first(kNumWords), second(kNumWords), got(kNumWords);
        kernels->store[type](first.data(), a.data(), kNumWords);
        kernels->store[type](second.data(), b.data(), kNumWords);
        const std::vector<float> x = Loaded(*kernels, type, first);
        const std::vector<float> y = Loaded(*kernels, type, second);
        const std::vector<uint16_t> want = ByF32(*kernels, type, op, x, y);
        forms[0](got.data(), first.data(), second.data(), nullptr, kNumWords);
        for (int i = 0; i < kNumWords; ++i) {
          ASSERT_EQ(got[i], want[i]) << "of " << x[i] << " and " << y[i];
        }
        for (float each : seconds) {
          const std::vector<float> all(kNumWords, each);
          forms[static_cast<int>(Scalars::kSecond)](got.data(), first.data(), &each, nullptr,
                                                    kNumWords);
          ASSERT_EQ(got, ByF32(*kernels, type, op, x, all)) << each << " second";
          if (each == 0) continue;
          forms[static_cast<int>(Scalars::kFirst)](got.data(), &each, second.data(), nullptr,
                                                   kNumWords);
          ASSERT_EQ(got, ByF32(*kernels, type, op, all, y)) << each << " first";
        }
        got = first;
        forms[0](got.data(), got.data(), second.data(), nullptr, kNumWords);
        EXPECT_EQ(got, want) << "in place of the first";
        forms[0](second.data(), first.data(), second.data(), nullptr, kNumWords);
        EXPECT_EQ(second, want) << "in place of the second";
      }
    });
  }
}

TEST(NarrowFunctionsTest, OfOneElementAndAllHaveTheBitsOfTheWayThroughF32) {
  // Numbers, infinities and NaNs of both types, then some of all sizes.
  std::vector<uint16_t> ones = {0,      1,      0x3c00, 0x4000, 0x3800, 0x7bff, 0x7c00, 0x7c01,
                                0x7e00, 0x3f80, 0x4040, 0x3f00, 0x7f7f, 0x7f80, 0x7f81, 0x7fff};
  for (int i = 0; i < 16; ++i) ones.push_back(static_cast<uint16_t>(i * 2039 + 77));
  for (size_t i = 0, n = ones.size(); i < n; ++i) ones.push_back(ones[i] | 0x8000);
  const std::vector<uint16_t> all = EachArgument();
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    ForEachBinaryFunction(*kernels, [&](const BlockFn* forms, PrimitiveType type, BlockOp op) {
      const std::vector<float> loaded = Loaded(*kernels, type, all);
      std::vector<float> singles = Loaded(*kernels, type, ones);
      // Neither have they to be numbers of the type.
      for (uint32_t bits : {0x3f8ccccdu, 0x7fffffffu, 0xffc0ffffu, 0x7f800001u, 0xffbfffffu}) {
        singles.push_back(absl::bit_cast<float>(bits));
      }
      for (float single : singles) {
        SCOPED_TRACE(single);
        const std::vector<float> each(kNumWords, single);
        std::vector<uint16_t> got(kNumWords);
        forms[static_cast<int>(Scalars::kFirst)](got.data(), &single, all.data(), nullptr,
                                                 kNumWords);
        const std::vector<uint16_t> word(kNumWords, Stored(*kernels, type, {single})[0]);
        ExpectSame(type, op, word, all, got, ByF32(*kernels, type, op, each, loaded));
        forms[static_cast<int>(Scalars::kSecond)](got.data(), all.data(), &single, nullptr,
                                                  kNumWords);
        ExpectSame(type, op, all, word, got, ByF32(*kernels, type, op, loaded, each));
      }
    });
  }
}

TEST(NarrowFunctionsTest, OfTwoDoNotDependOnPlaceOrCount) {
  constexpr int kMost = 70, kStep = 911;
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    ForEachBinaryFunction(*kernels, [&](const BlockFn* forms, PrimitiveType type, BlockOp op) {
      const float single = Loaded<uint16_t>(*kernels, type, {0x3e80})[0];
      for (int n = 0; n <= kMost; ++n) {
        for (int offset : {0, 1, 3, 32}) {
          // Results are also those of a longer block, NaNs and all.
          constexpr int kLonger = 128;
          std::vector<uint16_t> a(kLonger), b(kLonger), got(offset + n + 1, 0x1234);
          for (int i = 0; i < kLonger; ++i) {
            a[i] = static_cast<uint16_t>((n * 37 + i) * kStep);
            b[i] = static_cast<uint16_t>((n * 11 + i * 7) * kStep);
          }
          const std::vector<float> each(kLonger, single), loaded_a = Loaded(*kernels, type, a),
                                                          loaded_b = Loaded(*kernels, type, b);
          const std::vector<uint16_t> word(kLonger, 0x3e80);
          const auto check =
              [&](Scalars form, const void* x, const void* y, const std::vector<uint16_t>& first,
                  const std::vector<uint16_t>& second, const std::vector<uint16_t>& by_f32) {
                SCOPED_TRACE(absl::StrCat(n, " at ", offset, " form ", static_cast<int>(form)));
                std::vector<uint16_t> longer(kLonger), want(offset, 0x1234);
                forms[static_cast<int>(form)](longer.data(), x, y, nullptr, kLonger);
                ExpectSame(type, op, first, second, longer, by_f32);
                want.insert(want.end(), longer.begin(), longer.begin() + n);
                want.push_back(0x1234);
                forms[static_cast<int>(form)](got.data() + offset, x, y, nullptr, n);
                ASSERT_EQ(got, want);
              };
          check(Scalars::kNone, a.data(), b.data(), a, b,
                ByF32(*kernels, type, op, loaded_a, loaded_b));
          check(Scalars::kFirst, &single, b.data(), word, b,
                ByF32(*kernels, type, op, each, loaded_b));
          check(Scalars::kSecond, a.data(), &single, a, word,
                ByF32(*kernels, type, op, loaded_a, each));
        }
      }
    });
  }
}

template <typename T>
std::vector<typename T::Storage> Bits(const Literal& literal) {
  std::vector<typename T::Storage> bits;
  for (T x : Elements<T>(literal)) bits.push_back(x.bits());
  return bits;
}

class NarrowFunctionProgramsTest : public LevelTest {
 protected:
  // A program of one function, one that adds -0 to the result, and one of each second argument.
  template <typename T>
  void Check(PrimitiveType type, const std::string& element) {
    std::vector<T> x;
    for (uint16_t word : EachArgument()) x.push_back(T::FromBits(word));
    const Literal argument = Array<T>(type, {kNumWords}, x);
    const Literal zeros = Array<T>(type, {kNumWords}, std::vector<T>(kNumWords, T(-0.0f)));
    for (const char* op :
         {"stablehlo.cbrt", "stablehlo.exponential", "stablehlo.exponential_minus_one",
          "stablehlo.log", "stablehlo.log_plus_one", "stablehlo.logistic", "stablehlo.tanh",
          "stablehlo.sine", "stablehlo.cosine", "stablehlo.tan", "chlo.erf", "chlo.erfc"}) {
      const auto run = [&](const std::string& body, int64_t count) {
        const std::string text =
            absl::Substitute("func.func @main(%x: $0, %z: $0) -> $1 {\n$2  return %r : $1\n}\n",
                             TensorText({kNumWords}, element), TensorText({count}, element),
                             absl::Substitute(body, op, TensorText({kNumWords}, element),
                                              TensorText({count}, element)));
        const auto results = RunProgram(client(), text, {&argument, &zeros});
        EXPECT_TRUE(results.ok()) << results.status();
        return results.ok() ? Bits<T>(*(*results)[0]) : std::vector<typename T::Storage>(count);
      };
      const auto alone = run("  %r = \"$0\"(%x) : ($1) -> $1\n", kNumWords);
      const auto fused =
          run("  %0 = \"$0\"(%x) : ($1) -> $1\n  %r = stablehlo.add %0, %z : $1\n", kNumWords);
      const auto some = run(
          "  %0 = stablehlo.slice %x [1:65536:2] : ($1) -> $2\n  %r = \"$0\"(%0) : ($2) -> $2\n",
          kNumWords / 2);
      for (int i = 0; i < kNumWords; ++i) {
        ASSERT_EQ(alone[i], fused[i]) << op << " of " << i << " fused";
        ASSERT_EQ(alone[i | 1], some[i / 2]) << op << " of " << (i | 1) << " sliced";
      }
    }
  }

  // Operations of two arrays, of an array and a constant, and of an array and an argument: a
  // program of one, and one that adds -0 to the result.
  template <typename T>
  void CheckBinary(PrimitiveType type, const std::string& element) {
    std::mt19937 random(3);
    std::vector<T> x, y;
    for (uint16_t word : EachArgument()) {
      x.push_back(T::FromBits(word));
      y.push_back(T::FromBits(static_cast<uint16_t>(random())));
    }
    const Literal first = Array<T>(type, {kNumWords}, x), second = Array<T>(type, {kNumWords}, y);
    const Literal zeros = Array<T>(type, {kNumWords}, std::vector<T>(kNumWords, T(-0.0f)));
    const Literal one = Array<T>(type, {}, {T(-3.0f)});
    // Of two NaNs, sums and the like keep either.
    const std::vector<std::pair<std::string, bool>> ops = {
        {"power", false}, {"atan2", false},   {"remainder", false},
        {"add", true},    {"subtract", true}, {"multiply", true},
        {"divide", true}, {"maximum", true},  {"minimum", true}};
    for (const auto& [name, keeps_either] : ops) {
      const std::string op = absl::StrCat("stablehlo.", name);
      for (const char* operands : {"%x, %y", "%x, %c", "%c, %x", "%x, %d", "%d, %x", "%x, %x"}) {
        const auto run = [&](bool alone) {
          const std::string text = absl::Substitute(
              "func.func @main(%x: $0, %y: $0, %z: $0, %s: $1) -> $0 {\n"
              "  %c = stablehlo.constant dense<1.5> : $0\n"
              "  %d = stablehlo.broadcast_in_dim %s, dims = [] : ($1) -> $0\n"
              "  %0 = $2 $3 : $0\n  %r = stablehlo.add %0, %z : $0\n  return %$4 : $0\n}\n",
              TensorText({kNumWords}, element), TensorText({}, element), op, operands,
              alone ? "0" : "r");
          const auto results = RunProgram(client(), text, {&first, &second, &zeros, &one});
          EXPECT_TRUE(results.ok()) << results.status();
          return results.ok() ? Bits<T>(*(*results)[0])
                              : std::vector<typename T::Storage>(kNumWords);
        };
        const auto alone = run(true), fused = run(false);
        for (int i = 0; i < kNumWords; ++i) {
          if (keeps_either && AreBothNan(type, alone[i], fused[i])) continue;
          ASSERT_EQ(alone[i], fused[i]) << op << " " << operands << " at " << i;
        }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, NarrowFunctionProgramsTest, EachLevel(), LevelName);

TEST_P(NarrowFunctionProgramsTest, FusedAndAloneHaveTheSameBits) {
  Check<bfloat16>(BF16, "bf16");
  Check<half>(F16, "f16");
}

TEST_P(NarrowFunctionProgramsTest, OfTwoFusedAndAloneHaveTheSameBits) {
  CheckBinary<bfloat16>(BF16, "bf16");
  CheckBinary<half>(F16, "f16");
}

}  // namespace
}  // namespace pjrt::cpu

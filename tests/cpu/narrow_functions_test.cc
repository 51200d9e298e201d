// SPDX-License-Identifier: Apache-2.0
//
// Functions of bf16 and f16 from memory to memory, which must give the bits that come by blocks of
// f32, for every argument.
#include "src/cpu_device/loop/narrow_functions.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/kernel_test_util.h"
#include "tests/cpu/level_test.h"

namespace pjrt::cpu {
namespace {

constexpr int kCount = 1 << 16;
constexpr std::pair<NarrowType, PrimitiveType> kTypes[kNumNarrowTypes] = {{NarrowType::kBf16, BF16},
                                                                          {NarrowType::kF16, F16}};

std::vector<uint16_t> EachArgument() {
  std::vector<uint16_t> words(kCount);
  for (int i = 0; i < kCount; ++i) words[i] = static_cast<uint16_t>(i);
  return words;
}

// What `kernels` give of all arguments by load, `op` on f32 and store.
std::vector<uint16_t> ByF32(const BlockKernels& kernels, PrimitiveType type, BlockOp op) {
  std::vector<float> singles(kCount);
  kernels.load[type](singles.data(), EachArgument().data(), kCount);
  singles = CallUnary<float>(kernels, op, CType::kF32, singles);
  std::vector<uint16_t> results(kCount);
  kernels.store[type](results.data(), singles.data(), kCount);
  return results;
}

// Calls `check` with each function that a level has, its type and operation.
template <typename Check>
void ForEachFunction(const BlockKernels& kernels, Check check) {
  for (const auto& [narrow, memory] : kTypes) {
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
      std::vector<uint16_t> got(kCount);
      fn(got.data(), arguments.data(), nullptr, nullptr, kCount);
      for (int i = 0; i < kCount; ++i) {
        ASSERT_EQ(got[i], want[i]) << "of " << i;
      }
      got = arguments;
      fn(got.data(), got.data(), nullptr, nullptr, kCount);
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
    const Literal argument = Array<T>(type, {kCount}, x);
    const Literal zeros = Array<T>(type, {kCount}, std::vector<T>(kCount, T(-0.0f)));
    for (const char* op :
         {"stablehlo.cbrt", "stablehlo.exponential", "stablehlo.exponential_minus_one",
          "stablehlo.log", "stablehlo.log_plus_one", "stablehlo.logistic", "stablehlo.tanh",
          "stablehlo.sine", "stablehlo.cosine", "stablehlo.tan", "chlo.erf", "chlo.erfc"}) {
      const auto run = [&](const std::string& body, int64_t count) {
        const std::string text =
            absl::Substitute("func.func @main(%x: $0, %z: $0) -> $1 {\n$2  return %r : $1\n}\n",
                             TensorText({kCount}, element), TensorText({count}, element),
                             absl::Substitute(body, op, TensorText({kCount}, element),
                                              TensorText({count}, element)));
        const auto results = RunProgram(client(), text, {&argument, &zeros});
        EXPECT_TRUE(results.ok()) << results.status();
        return results.ok() ? Bits<T>(*(*results)[0]) : std::vector<typename T::Storage>(count);
      };
      const auto alone = run("  %r = \"$0\"(%x) : ($1) -> $1\n", kCount);
      const auto fused =
          run("  %0 = \"$0\"(%x) : ($1) -> $1\n  %r = stablehlo.add %0, %z : $1\n", kCount);
      const auto some = run(
          "  %0 = stablehlo.slice %x [1:65536:2] : ($1) -> $2\n  %r = \"$0\"(%0) : ($2) -> $2\n",
          kCount / 2);
      for (int i = 0; i < kCount; ++i) {
        ASSERT_EQ(alone[i], fused[i]) << op << " of " << i << " fused";
        ASSERT_EQ(alone[i | 1], some[i / 2]) << op << " of " << (i | 1) << " sliced";
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Levels, NarrowFunctionProgramsTest, EachLevel(), LevelName);

TEST_P(NarrowFunctionProgramsTest, FusedAndAloneHaveTheSameBits) {
  Check<bfloat16>(BF16, "bf16");
  Check<half>(F16, "f16");
}

}  // namespace
}  // namespace pjrt::cpu

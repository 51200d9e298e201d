// SPDX-License-Identifier: Apache-2.0
//
// The programs of `pjrt ops`, at sizes that are split among threads: results have the same bits
// with any number of threads, and at every kernel level but for what docs/architecture.md names.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/base/primitive_type.h"
#include "src/core/base/status_macros.h"
#include "tests/tool/bits_util.h"
#include "tools/pjrt/op_programs.h"

namespace pjrt::tool {
namespace {

absl::StatusOr<Results> RunText(PjRtClient* client, const std::string& text) {
  PJRT_ASSIGN_OR_RETURN(const std::vector<Literal> arguments, SmallArguments(text));
  return RunOn(client, text, arguments);
}

// Functions of real numbers and products of real matrices may use fused multiply-adds where a level
// has them; so do the ops that are made of them.
bool MayDifferByLevel(absl::string_view op) {
  static constexpr absl::string_view kOps[] = {"atan2",
                                               "batch_norm_grad",
                                               "batch_norm_inference",
                                               "batch_norm_training",
                                               "cbrt",
                                               "cholesky",
                                               "convolution",
                                               "cosine",
                                               "dot",
                                               "dot_general",
                                               "dynamic_conv",
                                               "einsum",
                                               "exponential",
                                               "fft",
                                               "exponential_minus_one",
                                               "log",
                                               "logistic",
                                               "log_plus_one",
                                               "power",
                                               "rng",
                                               "rsqrt",
                                               "sine",
                                               "tan",
                                               "tanh",
                                               "triangular_solve"};
  if (absl::StartsWith(op, "chlo.")) return true;
  for (const absl::string_view name : kOps) {
    if (op == absl::StrCat("stablehlo.", name)) return true;
  }
  return false;
}

bool HasOnlyArrays(absl::string_view text) { return !absl::StrContains(text, "!stablehlo.token"); }

class OpBitsTest : public ::testing::TestWithParam<PrimitiveType> {};

TEST_P(OpBitsTest, AnyNumberOfThreadsComputesTheSame) {
  const std::unique_ptr<PjRtClient> one = ClientWith(1);
  const std::unique_ptr<PjRtClient> others[] = {ClientWith(2), ClientWith(3), ClientWith(8)};
  int compared = 0;
  for (const OpProgram& program : OpPrograms()) {
    const std::string text = ProgramText(program, GetParam(), program.large);
    if (!HasOnlyArrays(text)) continue;
    const absl::StatusOr<Results> expected = RunText(one.get(), text);
    if (!expected.ok()) continue;  // not for this type, or refused: docs/ops.md
    for (const auto& client : others) {
      const absl::StatusOr<Results> actual = RunText(client.get(), text);
      ASSERT_TRUE(actual.ok()) << program.op << ": " << actual.status();
      EXPECT_TRUE(SameBits(*expected, *actual)) << program.op << " " << program.variant;
    }
    ++compared;
  }
  EXPECT_GT(compared, 60);
}

TEST_P(OpBitsTest, EachKernelLevelComputesTheSame) {
  const std::unique_ptr<PjRtClient> widest = ClientWith(1);
  for (const absl::string_view level : kLevels) {
    const std::unique_ptr<PjRtClient> client = ClientWith(1, std::string(level));
    if (client == nullptr) continue;  // the machine lacks it
    for (const OpProgram& program : OpPrograms()) {
      if (MayDifferByLevel(program.op) && (IsFloating(GetParam()) || IsComplex(GetParam())))
        continue;
      const std::string text = ProgramText(program, GetParam(), 200);
      if (!HasOnlyArrays(text)) continue;
      const absl::StatusOr<Results> expected = RunText(widest.get(), text);
      if (!expected.ok()) continue;
      const absl::StatusOr<Results> actual = RunText(client.get(), text);
      ASSERT_TRUE(actual.ok()) << program.op << ": " << actual.status();
      EXPECT_TRUE(SameBits(*expected, *actual))
          << program.op << " " << program.variant << " at level " << level;
    }
  }
}

std::string TypeCase(const ::testing::TestParamInfo<PrimitiveType>& type) {
  return std::string(PrimitiveTypeName(type.param));
}
INSTANTIATE_TEST_SUITE_P(Types, OpBitsTest, ::testing::Values(S32, U8, BF16, F32, F64, C64),
                         TypeCase);

}  // namespace
}  // namespace pjrt::tool

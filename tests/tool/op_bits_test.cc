// SPDX-License-Identifier: Apache-2.0
//
// The programs of `pjrt ops`, at sizes that are split among threads: results have the same bits
// with any number of threads, and at every kernel level but for what docs/architecture.md names.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"
#include "pjrt/executable.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/verifier.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/execution.h"
#include "tools/pjrt/fill.h"
#include "tools/pjrt/op_programs.h"

namespace pjrt::tool {
namespace {

// Numbers from -3 to 3, from 0 on of unsigned types.
absl::StatusOr<Literal> Argument(ir::Type type, uint64_t seed) {
  Fill fill;
  fill.kind = Fill::Kind::kUniform;
  fill.seed = seed;
  fill.low = -3;
  fill.high = 3;
  fill.integer_low =
      IsSignedInteger(type.primitive_type()) ? static_cast<uint64_t>(int64_t{-3}) : 0;
  fill.integer_high = 4;
  return MakeFilled(MakeShape(type.primitive_type(), type.dims()), fill);
}

using Results = std::vector<std::shared_ptr<Literal>>;

absl::StatusOr<Results> RunText(PjRtClient* client, const std::string& text) {
  PJRT_ASSIGN_OR_RETURN(std::unique_ptr<ir::Module> module, ir::ParseModule(text));
  PJRT_RETURN_IF_ERROR(ir::VerifyModule(*module));
  const ir::Type signature = module->EntryFunction().type();
  const std::vector<ir::Type> inputs(signature.inputs().begin(), signature.inputs().end());
  std::vector<Literal> literals;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].IsTensor()) return absl::UnimplementedError("an argument that is no array");
    PJRT_ASSIGN_OR_RETURN(Literal literal, Argument(inputs[i], i + 1));
    literals.push_back(std::move(literal));
  }
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtLoadedExecutable> executable,
                        client->Compile(std::move(module), CompileOptions()));
  PJRT_ASSIGN_OR_RETURN(const Buffers arguments, ToDevice(client, literals));
  PJRT_ASSIGN_OR_RETURN(const Buffers outputs, Execute(*executable, Handles(arguments)));
  return ToHost(outputs);
}

bool SameBits(const Results& a, const Results& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const LiteralBase& x = *a[i];
    const LiteralBase& y = *b[i];
    if (x.size_bytes() != y.size_bytes() ||
        (x.size_bytes() > 0 &&
         std::memcmp(x.untyped_data(), y.untyped_data(), x.size_bytes()) != 0))
      return false;
  }
  return true;
}

std::unique_ptr<PjRtClient> Client(int threads, const std::string& isa = "") {
  CommonOptions options;
  options.threads = threads;
  options.isa = isa;
  auto client = MakeClient(options);
  return client.ok() ? *std::move(client) : nullptr;
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
  const std::unique_ptr<PjRtClient> one = Client(1);
  const std::unique_ptr<PjRtClient> others[] = {Client(2), Client(3), Client(8)};
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
  const std::unique_ptr<PjRtClient> widest = Client(1);
  for (const char* level : {"baseline", "avx2", "avx512"}) {
    const std::unique_ptr<PjRtClient> client = Client(1, level);
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

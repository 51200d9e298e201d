// SPDX-License-Identifier: Apache-2.0
//
// Random programs: the device, with and without fusion, with one thread and with three, against an
// interpreter.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/compile_options.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/verifier.h"
#include "src/cpu_device/backend/thread_pool.h"
#include "src/cpu_device/compile/compiler.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/team.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/random_program.h"

namespace pjrt::cpu {
namespace {

// Bits that an element takes in the memory of arguments and results: packed where it divides a
// byte.
int DeviceBits(PrimitiveType type) {
  const int bits = BitWidth(type);
  return bits == 2 || bits == 4 ? bits : 8 * ByteWidth(type);
}

std::vector<char> Packed(const Literal& literal) {
  const char* data =
      static_cast<const char*>(static_cast<const LiteralBase&>(literal).untyped_data());
  std::vector<char> bytes(data, data + literal.size_bytes());
  const int bits = DeviceBits(literal.shape().element_type());
  if (bits >= 8) return bytes;
  std::vector<char> packed((bytes.size() * bits + 7) / 8, 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    char& byte = packed[i * bits / 8];
    byte = static_cast<char>(byte | (bytes[i] & ((1 << bits) - 1)) << (i * bits % 8));
  }
  return packed;
}

Literal Unpacked(const Tensor& like, const char* bytes) {
  Tensor zeros{like.type, like.dims, std::vector<double>(like.data.size(), 0)};
  Literal literal = zeros.ToLiteral();
  char* data = static_cast<char*>(literal.untyped_data());
  const int bits = DeviceBits(like.type);
  if (bits >= 8) {
    if (literal.size_bytes() > 0) std::memcpy(data, bytes, literal.size_bytes());
    return literal;
  }
  for (int64_t i = 0; i < literal.size_bytes(); ++i) {
    const int value = bytes[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
    const int sign = IsSignedInteger(like.type) ? 1 << (bits - 1) : 0;
    data[i] = static_cast<char>((value ^ sign) - sign);
  }
  return literal;
}

struct AlignedBytes {
  explicit AlignedBytes(size_t size)
      : data(static_cast<char*>(std::aligned_alloc(64, (size + 127) / 64 * 64))) {}
  ~AlignedBytes() { std::free(data); }
  AlignedBytes(const AlignedBytes&) = delete;
  char* data;
};

// Empty when the plan of the program gives what the interpreter says.
std::string RunPlanOf(const RandomProgram& program, const Kernels& kernels, bool fuse,
                      Executor* executor, int threads) {
  auto module = ir::ParseModule(program.text());
  if (!module.ok()) return module.status().ToString();
  if (absl::Status status = ir::VerifyModule(**module); !status.ok()) return status.ToString();
  const std::unique_ptr<LoopEngine> engine = MakeBlockEngine(kernels);
  LoweringOptions options;
  options.fuse = fuse;
  options.keep_f32 = false;
  auto compiled = CompileModule(*std::move(module), CompileOptions(), kernels, *engine, options);
  if (!compiled.ok()) return compiled.status().ToString();

  std::vector<std::unique_ptr<AlignedBytes>> memory;
  std::vector<const char*> arguments;
  std::vector<char*> results;
  for (const Tensor& argument : program.arguments()) {
    const std::vector<char> bytes = Packed(argument.ToLiteral());
    memory.push_back(std::make_unique<AlignedBytes>(bytes.size()));
    if (!bytes.empty()) std::memcpy(memory.back()->data, bytes.data(), bytes.size());
    arguments.push_back(memory.back()->data);
  }
  for (const Tensor& result : program.results()) {
    memory.push_back(std::make_unique<AlignedBytes>(Packed(result.ToLiteral()).size()));
    results.push_back(memory.back()->data);
  }
  const size_t workspace_bytes = static_cast<size_t>(compiled->plan.WorkspaceBytes(threads));
  const AlignedBytes workspace(workspace_bytes);
  // Whatever lies in the memory must not show.
  std::memset(workspace.data, 0x5a, workspace_bytes);
  const std::shared_ptr<Team> team = Team::Create(executor, threads);
  const absl::Status status =
      RunPlan(compiled->plan, arguments, results, workspace.data, team.get(), RunInfo());
  team->Dismiss();
  if (!status.ok()) return status.ToString();
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string difference =
        Difference(program.results()[i], Unpacked(program.results()[i], results[i]));
    if (!difference.empty()) return absl::StrCat("result ", i, ": ", difference);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::vector<char> bytes = Packed(program.arguments()[i].ToLiteral());
    if (!bytes.empty() && std::memcmp(arguments[i], bytes.data(), bytes.size()) != 0)
      return absl::StrCat("argument ", i, " was written");
  }
  return "";
}

// How many programs to try, by PJRT_TEST_PROGRAMS; enough for a normal run otherwise.
int ProgramCount(int otherwise) {
  const char* count = std::getenv("PJRT_TEST_PROGRAMS");
  return count == nullptr ? otherwise : std::atoi(count);
}

uint32_t FirstSeed() {
  const char* seed = std::getenv("PJRT_TEST_SEED");
  return seed == nullptr ? 1 : static_cast<uint32_t>(std::atoi(seed));
}

const Kernels& BestKernels() { return **ChooseKernels(); }

// Instrumented code is some ten times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kProgramsEach = 25;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
constexpr int kProgramsEach = 25;
#else
constexpr int kProgramsEach = 500;
#endif
#else
constexpr int kProgramsEach = 500;
#endif

// In twenty parts, so that test runners can share them out: 10,000 programs.
class SmallProgramsTest : public ::testing::TestWithParam<int> {};

TEST_P(SmallProgramsTest, ComputeFusedAndUnfusedWhatTheInterpreterDoes) {
  int failures = 0;
  const int count = ProgramCount(kProgramsEach);
  for (int i = 0; i < count && failures < 3; ++i) {
    const uint32_t seed = FirstSeed() + static_cast<uint32_t>(GetParam() * count + i);
    const RandomProgram program(seed, 5 + i % 8, /*max_elements=*/150);
    for (bool fuse : {false, true}) {
      const std::string problem = RunPlanOf(program, BestKernels(), fuse, nullptr, 1);
      if (!problem.empty()) ++failures;
      EXPECT_EQ(problem, "") << "seed " << seed << (fuse ? " fused" : " not fused") << "\n"
                             << program.text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, SmallProgramsTest, ::testing::Range(0, 20));

TEST(RandomProgramTest, LargerProgramsComputeWhatTheInterpreterDoes) {
  int failures = 0;
  for (int i = 0; i < ProgramCount(kProgramsEach / 5) && failures < 3; ++i) {
    const RandomProgram program(FirstSeed() + i, 6 + i % 10);
    for (bool fuse : {false, true}) {
      const std::string problem = RunPlanOf(program, BestKernels(), fuse, nullptr, 1);
      if (!problem.empty()) ++failures;
      EXPECT_EQ(problem, "") << "seed " << FirstSeed() + i << (fuse ? " fused" : " not fused")
                             << "\n"
                             << program.text();
    }
  }
}

TEST(RandomProgramTest, LongProgramsComputeWhatTheInterpreterDoes) {
  int failures = 0;
  for (int i = 0; i < ProgramCount(60) && failures < 3; ++i) {
    const RandomProgram program(100000 + FirstSeed() + i, 60);
    for (bool fuse : {false, true}) {
      const std::string problem = RunPlanOf(program, BestKernels(), fuse, nullptr, 1);
      if (!problem.empty()) ++failures;
      EXPECT_EQ(problem, "") << "seed " << 100000 + FirstSeed() + i
                             << (fuse ? " fused" : " not fused") << "\n"
                             << program.text();
    }
  }
}

TEST(RandomProgramTest, SeveralThreadsComputeTheSame) {
  ThreadPool pool(3);
  int failures = 0;
  for (int i = 0; i < ProgramCount(60) && failures < 3; ++i) {
    const RandomProgram program(200000 + FirstSeed() + i, 20);
    const std::string problem = RunPlanOf(program, BestKernels(), true, &pool, 3);
    if (!problem.empty()) ++failures;
    EXPECT_EQ(problem, "") << "seed " << 200000 + FirstSeed() + i << "\n" << program.text();
  }
}

TEST(RandomProgramTest, EveryKernelLevelComputesTheSame) {
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    int failures = 0;
    for (int i = 0; i < ProgramCount(40) && failures < 3; ++i) {
      const RandomProgram program(300000 + FirstSeed() + i, 20);
      const std::string problem = RunPlanOf(program, *kernels, true, nullptr, 1);
      if (!problem.empty()) ++failures;
      EXPECT_EQ(problem, "") << kernels->name << " seed " << 300000 + FirstSeed() + i << "\n"
                             << program.text();
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu

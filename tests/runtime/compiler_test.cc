// SPDX-License-Identifier: Apache-2.0
//
// The compiler registry and phase compilers.
#include "pjrt/compiler.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/phase_compiler.h"
#include "pjrt/topology.h"

namespace pjrt {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

class TestTopology : public PjRtTopologyDescription {
 public:
  explicit TestTopology(PjRtCompiler* own = nullptr) : own_(own) {}
  PjRtPlatformId platform_id() const override { return 1; }
  absl::string_view platform_name() const override { return "test"; }
  absl::string_view platform_version() const override { return "1"; }
  std::vector<std::unique_ptr<const PjRtDeviceDescription>> DeviceDescriptions() const override {
    return {};
  }
  absl::StatusOr<Layout> GetDefaultLayout(PrimitiveType,
                                          absl::Span<const int64_t> dims) const override {
    return MakeDescendingLayout(static_cast<int64_t>(dims.size()));
  }
  std::optional<PjRtCompiler*> compiler() const override {
    return own_ == nullptr ? std::nullopt : std::optional<PjRtCompiler*>(own_);
  }

 private:
  PjRtCompiler* own_;
};

// A compiler that fails with its name.
class NamedCompiler : public PjRtCompiler {
 public:
  explicit NamedCompiler(std::string name) : name_(std::move(name)) {}
  absl::StatusOr<std::unique_ptr<PjRtExecutable>> Compile(CompileOptions, PjRtProgram,
                                                          const PjRtTopologyDescription&,
                                                          PjRtClient*) override {
    return absl::AbortedError(name_);
  }

 private:
  std::string name_;
};

std::string WhoCompiled(const absl::StatusOr<std::unique_ptr<PjRtExecutable>>& result) {
  return std::string(result.status().message());
}

TEST(CompilerRegistryTest, AFactoryRunsOnceWhenFirstWanted) {
  PjRtCompilerRegistry registry;
  int calls = 0;
  ASSERT_TRUE(registry
                  .RegisterFactory("test", "",
                                   [&]() -> absl::StatusOr<std::unique_ptr<PjRtCompiler>> {
                                     ++calls;
                                     return std::make_unique<NamedCompiler>("made");
                                   })
                  .ok());
  EXPECT_EQ(calls, 0);
  PjRtCompiler* compiler = *registry.GetCompiler("test");
  EXPECT_EQ(*registry.GetCompiler("test"), compiler);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(registry.GetCompiler("test", "other").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(registry.GetCompiler("unknown").status().code(), StatusCode::kNotFound);
}

TEST(CompilerRegistryTest, AFailingFactoryIsAskedAgain) {
  PjRtCompilerRegistry registry;
  int calls = 0;
  ASSERT_TRUE(registry
                  .RegisterFactory("test", "",
                                   [&]() -> absl::StatusOr<std::unique_ptr<PjRtCompiler>> {
                                     if (++calls == 1) return absl::UnavailableError("not yet");
                                     return std::make_unique<NamedCompiler>("made");
                                   })
                  .ok());
  EXPECT_EQ(registry.InitializeAllVariants(), absl::UnavailableError("not yet"));
  EXPECT_TRUE(registry.InitializeAllVariants().ok());
}

TEST(CompilerRegistryTest, DuplicatesAndNullsAreRejected) {
  PjRtCompilerRegistry registry;
  const auto factory = []() -> absl::StatusOr<std::unique_ptr<PjRtCompiler>> { return nullptr; };
  EXPECT_TRUE(registry.RegisterFactory("test", "", factory).ok());
  EXPECT_EQ(registry.RegisterFactory("test", "", factory).code(), StatusCode::kAlreadyExists);
  EXPECT_TRUE(registry.RegisterFactory("test", "v", factory).ok());
  EXPECT_EQ(registry.RegisterFactory("test", "w", nullptr).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.RegisterCompiler("test", "", nullptr).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(registry.RegisterCompiler("test", "", std::make_unique<NamedCompiler>("a")).ok());
  EXPECT_EQ(registry.RegisterCompiler("test", "", std::make_unique<NamedCompiler>("b")).code(),
            StatusCode::kAlreadyExists);
  EXPECT_EQ(registry.GetCompiler("test", "v").status().code(), StatusCode::kInternal);
}

TEST(CompilerRegistryTest, CompilesWithTheOwnThenThePickedThenTheDefaultCompiler) {
  PjRtCompilerRegistry registry;
  TestTopology topology;
  EXPECT_EQ(PjRtCompile(registry, {}, "", topology).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(
      registry.RegisterCompiler("test", "", std::make_unique<NamedCompiler>("default")).ok());
  ASSERT_TRUE(registry.RegisterCompiler("test", "v", std::make_unique<NamedCompiler>("v")).ok());
  EXPECT_EQ(WhoCompiled(PjRtCompile(registry, {}, "", topology)), "default");
  EXPECT_EQ(WhoCompiled(PjRtCompile(registry, {}, "", topology, "v")), "v");
  const auto pick = [](std::string variant) {
    return [variant](const CompileOptions&,
                     const PjRtTopologyDescription&) -> absl::StatusOr<std::string> {
      return variant;
    };
  };
  ASSERT_TRUE(registry.RegisterVariantPicker("test", pick("v")).ok());
  ASSERT_TRUE(registry.RegisterVariantPicker("test", pick(""), /*is_weak=*/true).ok());
  EXPECT_EQ(registry.RegisterVariantPicker("test", pick("")).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(WhoCompiled(PjRtCompile(registry, {}, "", topology)), "v");
  NamedCompiler own("own");
  EXPECT_EQ(WhoCompiled(PjRtCompile(registry, {}, "", TestTopology(&own))), "own");
}

class TwoPhases : public PjRtPhaseCompiler {
 public:
  absl::Status RegisterAllPhases() override {
    for (const char* name : {"one", "two"}) {
      CompilationPhaseFunctions functions;
      functions.validator = [](CompileOptions, const std::vector<PjRtPartialProgram>& programs) {
        return programs.empty() ? absl::InvalidArgumentError("nothing to do") : absl::OkStatus();
      };
      functions.compiler =
          [name](
              CompileOptions, std::vector<PjRtPartialProgram>&& programs,
              const PjRtTopologyDescription&) -> absl::StatusOr<std::vector<PjRtPartialProgram>> {
        programs[0].program += name;
        return std::move(programs);
      };
      if (absl::Status s = RegisterPhase(name, functions); !s.ok()) return s;
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<PjRtExecutable>> Compile(CompileOptions, PjRtProgram,
                                                          const PjRtTopologyDescription&,
                                                          PjRtClient*) override {
    return absl::UnimplementedError("");
  }
  using PjRtPhaseCompiler::RegisterPhase;
};

TEST(PhaseCompilerTest, RunsTheNamedPhasesOneAfterAnother) {
  TwoPhases compiler;
  ASSERT_TRUE(compiler.RegisterAllPhases().ok());
  EXPECT_THAT(compiler.GetPhaseNames(), ElementsAre("one", "two"));
  EXPECT_EQ(static_cast<PjRtCompiler&>(compiler).AsPhaseCompiler(), &compiler);
  EXPECT_EQ(NamedCompiler("x").AsPhaseCompiler(), nullptr);
  TestTopology topology;
  const auto run = [&](std::vector<std::string> phases) -> std::string {
    std::vector<PjRtPartialProgram> programs(1);
    programs[0].program = "p.";
    auto result = compiler.RunPhases({}, std::move(programs), topology, phases);
    return result.ok() ? (*result)[0].program
                       : std::string(StatusCodeToString(result.status().code()));
  };
  EXPECT_EQ(run({}), "p.");
  EXPECT_EQ(run({"two", "one"}), "p.twoone");
  EXPECT_EQ(run({"one", "three"}), "NOT_FOUND");
  EXPECT_EQ(compiler.RunPhases({}, {}, topology, {"one"}).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(PhaseCompilerTest, RegistrationIsChecked) {
  TwoPhases compiler;
  ASSERT_TRUE(compiler.RegisterAllPhases().ok());
  EXPECT_EQ(compiler.RegisterPhase("x", {}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(compiler.RegisterPhase("", {}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(compiler.RegisterAllPhases().code(), StatusCode::kAlreadyExists);
}

TEST(TopologyTest, CountsAreProductsOfWhatIsGiven) {
  class Counted : public TestTopology {
    absl::StatusOr<int> ProcessCount() const override { return 2; }
    absl::StatusOr<int> ChipsPerProcess() const override { return 3; }
    absl::StatusOr<int> CoreCountOfDefaultTypePerChip() const override { return 5; }
  };
  Counted topology;
  EXPECT_EQ(*topology.ChipCount(), 6);
  EXPECT_EQ(*topology.CoreCountOfDefaultType(), 30);
  EXPECT_EQ(topology.LogicalDeviceCountOfDefaultType().status().code(), StatusCode::kUnimplemented);
  EXPECT_EQ(topology.GetDefaultMemorySpaceKindId(), -1);
  EXPECT_TRUE(topology.Attributes().empty());
}

TEST(TopologyRegistryTest, FindsTheReaderOfAPlatform) {
  PjRtTopologyDescriptionRegistry registry;
  const auto read =
      [](absl::string_view text) -> absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>> {
    if (text != "good") return absl::InvalidArgumentError("bad text");
    return std::make_unique<TestTopology>();
  };
  EXPECT_TRUE(registry.Register("test", read).ok());
  EXPECT_EQ(registry.Register("test", read).code(), StatusCode::kAlreadyExists);
  EXPECT_EQ(registry.Register("null", nullptr).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ((*registry.Deserialize("test", "good"))->platform_name(), "test");
  EXPECT_TRUE(registry.Deserialize(PlatformIdFromName("test"), "good").ok());
  EXPECT_EQ(registry.Deserialize("test", "x").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.Deserialize("other", "good").status().code(), StatusCode::kNotFound);
}

TEST(CompilerVariantTest, NamesAndNumbersAgree) {
  EXPECT_EQ(CompilerVariantId(""), 0);
  EXPECT_EQ(CompilerVariantToString(0), "");
  EXPECT_EQ(CompilerVariantToString(CompilerVariantId("linked")), "linked");
  EXPECT_EQ(CompilerVariantToString(12345), "unknown");
}

TEST(PhaseCompilerTest, IsFoundThroughTheRegistry) {
  PjRtCompilerRegistry registry;
  EXPECT_EQ(GetDefaultPjRtPhaseCompiler(registry, "p").status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(registry.RegisterCompiler("p", "", std::make_unique<TwoPhases>()).ok());
  EXPECT_TRUE(GetDefaultPjRtPhaseCompiler(registry, "p").ok());
  ASSERT_TRUE(registry.RegisterCompiler("q", "", std::make_unique<NamedCompiler>("q")).ok());
  EXPECT_EQ(GetDefaultPjRtPhaseCompiler(registry, "q").status().code(), StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace pjrt

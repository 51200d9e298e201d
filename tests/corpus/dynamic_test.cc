// SPDX-License-Identifier: Apache-2.0
//
// Each program of the corpus with dynamic dimensions runs for at least two choices of them, with
// the same results, bit for bit, as the program that was made static before it was compiled.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"
#include "pjrt/client.h"
#include "pjrt/compile_options.h"
#include "pjrt/cpu/cpu_client.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/passes.h"
#include "src/core/base/status_macros.h"
#include "tests/support/shared_dir.h"

namespace pjrt {
namespace {

namespace fs = std::filesystem;
using Literals = std::vector<std::shared_ptr<Literal>>;

// An argument: its sizes, and its value where it is a dimension variable.
struct Choice {
  std::vector<int64_t> dims;
  std::optional<int64_t> value;
};

// Small numbers that differ from element to element: -1 to 1, or 0 to 3 for integers, which index
// into the smallest of dimensions.
absl::StatusOr<Literal> Fill(const Shape& shape, uint64_t seed) {
  const bool is_integer = IsInteger(shape.element_type());
  PJRT_ASSIGN_OR_RETURN(Literal wide, Literal::Make(MakeShape(F64, shape.dimensions())));
  for (int64_t i = 0; i < wide.element_count(); ++i) {
    uint64_t h = seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(i) * 0xbf58476d1ce4e5b9u;
    h = (h ^ (h >> 29)) * 0x94d049bb133111ebu;
    const auto number = static_cast<double>(h >> 40) / (1 << 23) - 1;
    wide.SetLinear(i, is_integer ? static_cast<double>(h >> 62) : number);
  }
  return wide.Convert(shape.element_type());
}

absl::StatusOr<std::vector<Literal>> MakeArguments(const ir::Module& module,
                                                   const std::vector<Choice>& choices) {
  std::vector<Literal> literals;
  const ir::Type signature = module.EntryFunction().type();
  for (size_t i = 0; i < choices.size(); ++i) {
    const PrimitiveType type = signature.inputs()[i].primitive_type();
    if (choices[i].value.has_value()) {
      literals.push_back(CreateScalar(type, *choices[i].value));
      continue;
    }
    PJRT_ASSIGN_OR_RETURN(Literal literal, Fill(MakeShape(type, choices[i].dims), i + 1));
    literals.push_back(std::move(literal));
  }
  return literals;
}

absl::StatusOr<Literals> Run(PjRtClient& client, const PjRtLoadedExecutable& executable,
                             const std::vector<Literal>& arguments) {
  PJRT_ASSIGN_OR_RETURN(PjRtMemorySpace * memory,
                        client.addressable_devices()[0]->default_memory_space());
  std::vector<std::unique_ptr<PjRtBuffer>> buffers;
  std::vector<PjRtBuffer*> handles;
  for (const Literal& literal : arguments) {
    PJRT_ASSIGN_OR_RETURN(buffers.emplace_back(), client.BufferFromHostLiteral(literal, memory));
    PJRT_RETURN_IF_ERROR(buffers.back()->GetReadyFuture().Await());
    handles.push_back(buffers.back().get());
  }
  PJRT_ASSIGN_OR_RETURN(auto outputs,
                        executable.Execute(absl::MakeConstSpan(&handles, 1), ExecuteOptions()));
  Literals results;
  for (const auto& buffer : outputs[0]) {
    PJRT_ASSIGN_OR_RETURN(results.emplace_back(), buffer->ToLiteralSync());
  }
  return results;
}

// The results of the program made static by the passes alone.
absl::StatusOr<Literals> RunRefined(PjRtClient& client, const ir::Module& module,
                                    const std::vector<Choice>& choices,
                                    const std::vector<Literal>& arguments) {
  std::unique_ptr<ir::Module> refined = module.Clone();
  ir::Context& context = refined->context();
  const ir::Type signature = refined->EntryFunction().type();
  std::vector<ir::ArgumentRefinement> refinements(choices.size());
  for (size_t i = 0; i < choices.size(); ++i) {
    const ir::Type type = signature.inputs()[i];
    refinements[i].type = context.Tensor(choices[i].dims, type.element_type());
    if (choices[i].value.has_value()) {
      refinements[i].value = context.DenseSplatInt(type, *choices[i].value);
    }
  }
  PJRT_RETURN_IF_ERROR(ir::RefineArguments(refined.get(), refinements));
  PJRT_RETURN_IF_ERROR(ir::RefineShapes(refined.get()));
  for (const ir::Type type : refined->EntryFunction().type().results()) {
    if (!type.HasStaticShape()) return absl::InternalError("a result is left dynamic");
  }
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtLoadedExecutable> executable,
                        client.Compile(std::move(refined), CompileOptions()));
  return Run(client, *executable, arguments);
}

// Every way to choose sizes with these values of the dimension variables, which lead the arguments:
// each `?` has the size of one of them.
std::vector<std::vector<Choice>> Choices(const ir::Module& module, int64_t size) {
  const absl::Span<const ir::Type> inputs = module.EntryFunction().type().inputs();
  size_t variables = 0, open = 0, ways = 1;
  while (variables < inputs.size() && inputs[variables].rank() == 0 &&
         inputs[variables].primitive_type() == S64) {
    ++variables;
  }
  for (const ir::Type type : inputs) {
    open += static_cast<size_t>(std::count(type.dims().begin(), type.dims().end(), ir::kDynamic));
  }
  for (size_t i = 0; i < open; ++i) ways *= std::max<size_t>(variables, 1);
  std::vector<std::vector<Choice>> all;
  for (size_t way = 0; way < ways; ++way) {
    std::vector<Choice> choices;
    size_t rest = way;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Choice& choice = choices.emplace_back();
      if (i < variables) choice.value = size + static_cast<int64_t>(i);
      for (int64_t dim : inputs[i].dims()) {
        if (dim == ir::kDynamic) {
          const size_t of = std::max<size_t>(variables, 1);
          dim = size + static_cast<int64_t>(rest % of);
          rest /= of;
        }
        choice.dims.push_back(dim);
      }
    }
    all.push_back(std::move(choices));
  }
  return all;
}

// What went wrong; empty when the program ran for two sizes.
std::string CheckProgram(PjRtClient& client, const ir::Module& module) {
  auto executable = client.Compile(module.Clone(), CompileOptions());
  if (!executable.ok()) return executable.status().ToString();
  int ran = 0;
  absl::Status last = absl::UnknownError("no choice of sizes");
  for (const int64_t size : {3, 5, 8, 2, 4, 12}) {
    if (ran == 2) break;
    for (const std::vector<Choice>& choices : Choices(module, size)) {
      const auto arguments = MakeArguments(module, choices);
      if (!arguments.ok()) return arguments.status().ToString();
      const auto expected = RunRefined(client, module, choices, *arguments);
      const auto got = Run(client, **executable, *arguments);
      if (expected.ok() != got.ok()) {
        return absl::StrCat("refined: ", expected.status().ToString(),
                            "; dynamic: ", got.status().ToString());
      }
      // Sizes that the program doesn't allow are refused as such.
      if (!got.ok()) {
        last = got.status();
        if (last.code() != absl::StatusCode::kInvalidArgument) return last.ToString();
        continue;
      }
      if (got->size() != expected->size()) return "another number of results";
      for (size_t i = 0; i < got->size(); ++i) {
        if (*(*got)[i] != *(*expected)[i]) return absl::StrCat("result ", i, " differs");
      }
      ++ran;
      break;
    }
  }
  return ran == 2 ? "" : absl::StrCat("ran for ", ran, " choices of sizes; ", last.ToString());
}

TEST(DynamicCorpusTest, ProgramsRunAsTheirRefinementsDo) {
  const std::optional<std::string> shared = testing::SharedDir();
  if (!shared) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  CpuClientOptions options;
  options.threads = 1;
  const auto client = GetCpuClient(options);
  ASSERT_TRUE(client.ok()) << client.status();
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(*shared) / "corpus/testdata/dynamic")) {
    if (entry.path().extension() == ".mlir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  EXPECT_GT(files.size(), 100u);
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    ir::ParseOptions parse;
    parse.source_name = file.filename().string();
    const auto module = ir::ParseModule(text, parse);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(CheckProgram(**client, **module), "") << file.filename();
  }
}

}  // namespace
}  // namespace pjrt

// SPDX-License-Identifier: Apache-2.0
//
// pjrt run: compiles a program, executes it once and shows or stores its results.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pjrt/base/npy.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/execution.h"
#include "tools/pjrt/literal_text.h"
#include "tools/pjrt/program_file.h"

namespace pjrt::tool {
namespace {

// Elements of a result above which only the first and last of each dimension are printed.
constexpr int64_t kMaxPrintedElements = 1000;

absl::StatusOr<Literal> MakeInput(const std::string& text, const Shape& shape) {
  Fill fill;
  const bool is_fill =
      text == "zeros" || text == "ones" || text == "iota" || absl::StartsWith(text, "random:");
  if (is_fill && shape.is_dynamic()) {
    return InvalidArgument("PJRT-T005", "'", Shorten(text, 60), "' says no size for ",
                           shape.ToString(/*print_layout=*/false),
                           "; expected an array or a .npy file");
  }
  if (text == "zeros") return MakeFilled(shape, fill);
  if (text == "ones" || text == "iota") {
    fill.kind = text == "ones" ? Fill::Kind::kOnes : Fill::Kind::kIota;
    return MakeFilled(shape, fill);
  }
  if (absl::StartsWith(text, "random:")) {
    uint64_t seed;
    if (!absl::SimpleAtoi(text.substr(7), &seed)) {
      return InvalidArgument("PJRT-T004", "'", Shorten(text, 60),
                             "': expected random: and a number that is not negative");
    }
    return MakeFilled(shape, RandomFill(shape.element_type(), seed));
  }
  if (!absl::EndsWith(text, ".npy")) return ParseLiteralText(text, shape);
  PJRT_ASSIGN_OR_RETURN(Literal literal, ReadNpyFile(text, shape.element_type()));
  if (!HasSizesOf(literal.shape().dimensions(), shape)) {
    return InvalidArgument("PJRT-T005", text, ": holds ",
                           literal.shape().ToString(/*print_layout=*/false), "; expected ",
                           shape.ToString());
  }
  return literal;
}

absl::StatusOr<std::vector<Literal>> MakeRunInputs(const RunOptions& options,
                                                   const ProgramFile& program,
                                                   const ir::Module& module) {
  PJRT_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, ParameterShapes(module));
  const bool own = program.workload.has_value() && options.inputs.empty();
  const size_t given = own ? program.workload->inputs.size() : options.inputs.size();
  if (given != shapes.size()) {
    return InvalidArgument("PJRT-T013", program.name, ": the program takes ", shapes.size(),
                           " inputs; ", given, " were given");
  }
  if (own) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Shape& shape = program.workload->inputs[i].shape;
      if (shape.element_type() != shapes[i].element_type() ||
          !HasSizesOf(shape.dimensions(), shapes[i])) {
        return InvalidArgument("PJRT-T005", "input ", i, " of the workload is ", shape.ToString(),
                               "; the program expects ", shapes[i].ToString());
      }
    }
    return MakeInputs(*program.workload);
  }
  std::vector<Literal> literals;
  for (size_t i = 0; i < shapes.size(); ++i) {
    absl::StatusOr<Literal> literal = MakeInput(options.inputs[i], shapes[i]);
    if (!literal.ok()) return WithContext(literal.status(), absl::StrCat("input ", i));
    literals.push_back(*std::move(literal));
  }
  return literals;
}

absl::Status StoreResults(const std::string& folder,
                          absl::Span<const std::shared_ptr<Literal>> results) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Unknown("PJRT-T008", folder, ": can't be made: ", error.message());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string path =
        (std::filesystem::path(folder) / absl::StrCat("out", i, ".npy")).string();
    PJRT_RETURN_IF_ERROR(WriteNpyFile(path, *results[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Run(const RunOptions& options) {
  PJRT_ASSIGN_OR_RETURN(const ProgramFile program, ReadProgram(options.program));
  PJRT_ASSIGN_OR_RETURN(std::unique_ptr<ir::Module> module,
                        ParseProgram(program.name, program.bytes));
  CompileOptions compile_options;
  if (program.workload.has_value()) {
    compile_options.executable_build_options.set_num_partitions(program.workload->partitions);
    if (program.workload->parse_only) {
      return Unimplemented("PJRT-T014", program.name,
                           ": the workload is only to be parsed; it can't run on a CPU");
    }
  }
  // The client outlives what is made from it.
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtClient> client, MakeClient(options.common));
  // Made before the compiler takes the module; a wrong input is reported in its stead.
  absl::StatusOr<std::vector<Literal>> inputs = MakeRunInputs(options, program, *module);
  if (!inputs.ok() && inputs.status().code() != absl::StatusCode::kUnimplemented) {
    return inputs.status();
  }
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtLoadedExecutable> executable,
                        client->Compile(std::move(module), compile_options));
  PJRT_RETURN_IF_ERROR(inputs.status());
  PJRT_ASSIGN_OR_RETURN(const Buffers arguments, ToDevice(client.get(), *inputs));
  PJRT_ASSIGN_OR_RETURN(const Buffers outputs, ExecuteToEnd(*executable, Handles(arguments)));
  PJRT_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<Literal>> results, ToHost(outputs));
  if (!options.output_dir.empty()) PJRT_RETURN_IF_ERROR(StoreResults(options.output_dir, results));
  if (options.print || options.output_dir.empty()) {
    for (const std::shared_ptr<Literal>& result : results) {
      std::printf("%s\n", result->ToString(kMaxPrintedElements).c_str());
    }
  }
  return absl::OkStatus();
}

}  // namespace pjrt::tool

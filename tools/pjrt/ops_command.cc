// SPDX-License-Identifier: Apache-2.0
//
// pjrt ops: which ops the device runs, on which element types, found out by compiling small
// programs. docs/ops.md is what it prints for the CPU device.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/verifier.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/op_programs.h"

namespace pjrt::tool {
namespace {

enum class Support { kInvalid, kRuns, kRefused };

// What becomes of a program: not valid StableHLO, compiled, or refused.
Support Try(PjRtClient* client, const std::string& text, std::string* problem) {
  absl::StatusOr<std::unique_ptr<ir::Module>> module = ir::ParseModule(text);
  absl::Status status = module.status();
  if (status.ok()) status = ir::VerifyModule(**module);
  if (!status.ok()) {
    *problem = std::string(status.message());
    return Support::kInvalid;
  }
  status = client->Compile(*std::move(module), CompileOptions()).status();
  if (status.ok()) return Support::kRuns;
  *problem = std::string(status.message());
  return Support::kRefused;
}

// A row of the table: an op, or one use of it.
struct Row {
  absl::string_view op, variant;
  bool has_type = true;
  std::vector<PrimitiveType> runs, refused;
};

struct Class {
  absl::string_view name;
  bool (*has)(PrimitiveType);
};
constexpr Class kClasses[] = {
    {"i1", [](PrimitiveType type) { return type == PRED; }},
    {"signed integers", [](PrimitiveType type) { return IsSignedInteger(type); }},
    {"unsigned integers", [](PrimitiveType type) { return IsUnsignedInteger(type); }},
    {"floats", [](PrimitiveType type) { return IsFloating(type); }},
    {"complex", [](PrimitiveType type) { return IsComplex(type); }},
};

std::string Names(const std::vector<PrimitiveType>& types) {
  std::string text;
  for (const PrimitiveType type : types)
    absl::StrAppend(&text, text.empty() ? "" : " ", StableHloTypeName(type));
  return text;
}

std::string Cell(const Row& row, const Class& of) {
  std::vector<PrimitiveType> runs, refused;
  size_t all = 0;
  for (const PrimitiveType type : StableHloTypes()) all += of.has(type) ? 1 : 0;
  for (const PrimitiveType type : row.runs) {
    if (of.has(type)) runs.push_back(type);
  }
  for (const PrimitiveType type : row.refused) {
    if (of.has(type)) refused.push_back(type);
  }
  if (runs.empty() && refused.empty()) return "–";
  if (refused.empty()) return runs.size() == all ? "yes" : Names(runs);
  if (runs.empty() && refused.size() == all) return "no";
  return absl::StrCat(Names(runs), runs.empty() ? "" : "; ", "no: ", Names(refused));
}

void PrintRows(absl::string_view dialect, const std::vector<Row>& rows) {
  std::printf(
      "\n| op | what it computes | i1 | signed integers | unsigned integers | floats |"
      " complex |\n|---|---|---|---|---|---|---|\n");
  absl::string_view last;
  for (const Row& row : rows) {
    if (!absl::StartsWith(row.op, dialect)) continue;
    const std::string summary =
        row.op == last
            ? ""
            : absl::StrReplaceAll(ir::GetOpInfo(ir::LookupOp(row.op)).summary, {{"|", "\\|"}});
    last = row.op;
    const absl::string_view name = row.op.substr(dialect.size());
    std::string line = absl::StrCat("| `", name, "`", row.variant.empty() ? "" : " ", row.variant,
                                    " | ", summary, " |");
    for (const Class& of : kClasses) {
      const bool first = &of == &kClasses[0];
      absl::StrAppend(&line, " ",
                      row.has_type       ? Cell(row, of)
                      : !first           ? ""
                      : row.runs.empty() ? "no"
                                         : "yes",
                      " |");
    }
    std::printf("%s\n", line.c_str());
  }
}

}  // namespace

int Ops(const OpsOptions& options) {
  const absl::StatusOr<std::unique_ptr<PjRtClient>> client = MakeClient(options.common);
  if (!client.ok()) return Report(client.status());
  std::vector<Row> rows;
  size_t combinations = 0, refused = 0;
  for (const OpProgram& program : OpPrograms()) {
    if (rows.empty() || rows.back().op != program.op || rows.back().variant != program.variant)
      rows.push_back({program.op, program.variant, program.has_type, {}, {}});
    Row& row = rows.back();
    for (const PrimitiveType type : StableHloTypes()) {
      if (!program.has_type && type != PRED) continue;
      std::string problem;
      const Support support = Try(client->get(), ProgramText(program, type), &problem);
      if (options.reasons && support != Support::kRuns) {
        std::printf("%s %s%s%s %s: %s\n", support == Support::kInvalid ? "invalid" : "refused",
                    std::string(program.op).c_str(), program.variant.empty() ? "" : " ",
                    std::string(program.variant).c_str(),
                    program.has_type ? std::string(StableHloTypeName(type)).c_str() : "",
                    problem.substr(0, problem.find('\n')).c_str());
      }
      if (support == Support::kInvalid) continue;
      std::vector<PrimitiveType>& list = support == Support::kRuns ? row.runs : row.refused;
      if (std::find(list.begin(), list.end(), type) == list.end()) list.push_back(type);
      ++combinations;
      refused += support == Support::kRefused ? 1 : 0;
    }
  }
  if (options.reasons) return kOk;
  std::printf(
      "# Ops and element types\n\n"
      "What the device `%s` compiles, found out by compiling a small program for each op, use and\n"
      "element type: %zu combinations, of which %zu are refused. Written by `pjrt ops`; the types\n"
      "that the specification allows are those that the verifier accepts.\n\n"
      "In a column, *yes* stands for every type of the class, a list for the types that the\n"
      "specification allows (all of them run), – for none, and *no* says what is valid but "
      "refused\n"
      "with UNIMPLEMENTED. Quantized types run wherever the specification allows them, but for\n"
      "chlo.ragged_dot; chlo.scan and chlo.top_k take those of one scale.\n\n"
      "## StableHLO\n",
      std::string((*client)->platform_name()).c_str(), combinations, refused);
  PrintRows("stablehlo.", rows);
  std::printf("\n## CHLO\n\nExpanded before a device sees them.\n");
  PrintRows("chlo.", rows);
  return kOk;
}

}  // namespace pjrt::tool

// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/op_programs.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "pjrt/ir/op_set.h"

namespace pjrt::tool {
namespace {

// The value of "n", "2n", "n-1" or "3n+2"; false for anything else, such as a region's brace.
bool EvaluateSize(absl::string_view text, int64_t n, int64_t* value) {
  const size_t at = text.find('n');
  if (at == absl::string_view::npos) return false;
  int64_t factor = 1, rest = 0;
  if (at > 0 && !absl::SimpleAtoi(text.substr(0, at), &factor)) return false;
  const absl::string_view tail = text.substr(at + 1);
  if (!tail.empty() && ((tail[0] != '+' && tail[0] != '-') || !absl::SimpleAtoi(tail, &rest)))
    return false;
  *value = factor * n + rest;
  return true;
}

}  // namespace

const std::vector<OpProgram>& OpPrograms() {
  static const std::vector<OpProgram>* const kPrograms = [] {
    auto* programs = new std::vector<OpProgram>;
    AddElementwisePrograms(programs);
    AddShapePrograms(programs);
    AddComputePrograms(programs);
    AddControlPrograms(programs);
    AddChloPrograms(programs);
    std::stable_sort(programs->begin(), programs->end(),
                     [](const OpProgram& a, const OpProgram& b) {
                       return ir::LookupOp(a.op) < ir::LookupOp(b.op);
                     });
    for (OpProgram& program : *programs) {
      const absl::string_view text = program.text;
      program.has_type = text.find("$T") != absl::string_view::npos ||
                         text.find("$X") != absl::string_view::npos ||
                         text.find("$S") != absl::string_view::npos;
    }
    return programs;
  }();
  return *kPrograms;
}

std::string ProgramText(const OpProgram& program, PrimitiveType type, int64_t size) {
  const absl::string_view element = StableHloTypeName(type);
  const std::string with_types =
      absl::StrReplaceAll(program.text, {{"$X", absl::StrCat("tensor<{n}x", element, ">")},
                                         {"$S", absl::StrCat("tensor<", element, ">")},
                                         {"$T", element},
                                         {"$P", StableHloTypeName(ComplexComponent(type))}});
  std::string text;
  size_t at = 0;
  while (at < with_types.size()) {
    const size_t open = with_types.find('{', at);
    if (open == std::string::npos) break;
    absl::StrAppend(&text, with_types.substr(at, open - at));
    const size_t close = with_types.find('}', open);
    int64_t value = 0;
    if (close != std::string::npos && close - open < 8 &&
        EvaluateSize(absl::string_view(with_types).substr(open + 1, close - open - 1), size,
                     &value)) {
      absl::StrAppend(&text, value);
      at = close + 1;
    } else {
      text.push_back('{');
      at = open + 1;
    }
  }
  return absl::StrCat(text, with_types.substr(at));
}

absl::Span<const PrimitiveType> StableHloTypes() {
  static constexpr PrimitiveType kTypes[] = {
      PRED,   S2,     S4,       S8,         S16,           S32,      S64,        U2,
      U4,     U8,     U16,      U32,        U64,           F4E2M1FN, F6E2M3FN,   F6E3M2FN,
      F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2,   F8E5M2FNUZ, F8E8M0FNU,
      BF16,   F16,    F32,      F64,        C64,           C128};
  return kTypes;
}

}  // namespace pjrt::tool

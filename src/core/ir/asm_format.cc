// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/asm_format.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace pjrt::ir {
namespace {

constexpr std::pair<absl::string_view, AsmAttr> kSpellings[] = {
    {"ints", AsmAttr::kInts},         {"int", AsmAttr::kInt},
    {"float", AsmAttr::kFloat},       {"bool", AsmAttr::kBool},
    {"enum", AsmAttr::kEnum},         {"enums", AsmAttr::kEnums},
    {"string", AsmAttr::kString},     {"symbol", AsmAttr::kSymbol},
    {"elements", AsmAttr::kElements}, {"balanced", AsmAttr::kBalanced},
};

constexpr std::pair<absl::string_view, AsmPiece> kPieces[] = {
    {"<constant>", AsmPiece::kConstant},
    {"<slice>", AsmPiece::kSlice},
    {"<dot-general>", AsmPiece::kDotGeneral},
    {"<convolution>", AsmPiece::kConvolution},
    {"<reduce>", AsmPiece::kReduce},
    {"<while>", AsmPiece::kWhile},
    {"<scan>", AsmPiece::kScan},
    {"<custom-call>", AsmPiece::kCustomCall},
    {"<composite>", AsmPiece::kComposite},
    {"<return>", AsmPiece::kReturn},
    {"<func>", AsmPiece::kFunc},
    {"<module>", AsmPiece::kModule},
    {"<manual-computation>", AsmPiece::kManualComputation},
    {"<named-computation>", AsmPiece::kNamedComputation},
    {"<exponent-mantissa>", AsmPiece::kExponentMantissa},
    {"<select-type>", AsmPiece::kSelectType},
    {"<complex-type>", AsmPiece::kComplexType},
    {"<tuple-type>", AsmPiece::kTupleType},
    {"<barrier>", AsmPiece::kBarrier},
    {"<cast>", AsmPiece::kCast},
};

constexpr std::pair<absl::string_view, AsmKind> kTypeForms[] = {
    {"type", AsmKind::kType},     {"functional", AsmKind::kFunctional},
    {"arrow", AsmKind::kArrow},   {"operand-types", AsmKind::kOperandTypes},
    {"result", AsmKind::kResult},
};

template <typename T, size_t n>
const T* Find(const std::pair<absl::string_view, T> (&table)[n], absl::string_view name) {
  for (const auto& entry : table) {
    if (entry.first == name) return &entry.second;
  }
  return nullptr;
}

AsmElement Element(const OpInfo& op, absl::string_view word, bool behind_colon) {
  AsmElement e;
  e.text = word;
  if (word == "$*") {
    e.kind = AsmKind::kAllOperands;
  } else if (word == "{}") {
    e.kind = AsmKind::kAttrDict;
  } else if (word == "{attributes}") {
    e.kind = AsmKind::kAttrDictAttributes;
  } else if (word == "?(") {
    e.kind = AsmKind::kGroupBegin;
  } else if (word.size() > 1 && word[0] == '$') {
    e.kind = AsmKind::kOperand;
    e.text = word.substr(1);
    e.variadic = absl::ConsumeSuffix(&e.text, "*");
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (op.operands[i].name == e.text) e.operand = static_cast<int>(i);
    }
  } else if (word.size() > 1 && word[0] == '@') {
    e.kind = AsmKind::kAttr;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(word.substr(1), ':');
    e.text = parts.first;
    if (const AsmAttr* spelling = Find(kSpellings, parts.second)) e.attr = *spelling;
    for (const AttrSpec& spec : op.attributes) {
      if (spec.name == e.text) e.spec = &spec;
    }
  } else if (const AsmPiece* piece = Find(kPieces, word)) {
    e.kind = AsmKind::kPiece;
    e.piece = *piece;
  } else if (const AsmKind* form = behind_colon ? Find(kTypeForms, word) : nullptr) {
    e.kind = *form;
  }
  return e;
}

std::vector<AsmElement> Cut(const OpInfo& op) {
  std::vector<AsmElement> elements;
  std::vector<size_t> open;  // what the next ) closes: the index of a ?( or of a literal (
  for (absl::string_view word : absl::StrSplit(op.format, ' ', absl::SkipEmpty())) {
    const bool behind_colon = !elements.empty() && elements.back().text == ":";
    elements.push_back(Element(op, word, behind_colon));
    AsmElement& last = elements.back();
    const size_t index = elements.size() - 1;
    if (word == "(" || word == "?(") {
      open.push_back(index);
    } else if (word == ")" && !open.empty()) {
      if (elements[open.back()].kind == AsmKind::kGroupBegin) {
        last.kind = AsmKind::kGroupEnd;
        elements[open.back()].group_end = static_cast<int>(index);
      }
      open.pop_back();
    } else if (last.kind == AsmKind::kAttr) {
      for (size_t i : open) {
        if (elements[i].kind == AsmKind::kGroupBegin && elements[i].spec == nullptr)
          elements[i].spec = last.spec;
      }
    }
  }
  return elements;
}

}  // namespace

absl::Span<const AsmElement> AsmFormat(OpCode code) {
  using Table = std::array<std::vector<AsmElement>, static_cast<size_t>(OpCode::kCount)>;
  static const Table* const table = [] {
    auto* made = new Table();  // never destroyed: other statics may still print at exit
    for (const OpInfo& op : AllOps()) (*made)[static_cast<size_t>(op.code)] = Cut(op);
    return made;
  }();
  return (*table)[static_cast<size_t>(code)];
}

}  // namespace pjrt::ir

// SPDX-License-Identifier: Apache-2.0
//
// The printer behind pjrt/ir/printer.h. One class over several files: printer.cc (values, the
// generic form, blocks and regions), asm_print.cc (the pretty syntax as OpInfo::format gives it),
// asm_print_pieces.cc, asm_print_regions.cc and asm_print_func.cc (its hand-written pieces).
//
// An op is printed in its pretty form when that form says all of it. The methods that print a part
// of it return false when they find that it does not; what they had printed is then taken back and
// the op comes in the generic form. Pieces find that out before they print a region.
#ifndef PJRT_CORE_IR_ASM_PRINTER_H_
#define PJRT_CORE_IR_ASM_PRINTER_H_

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/printer.h"
#include "src/core/ir/asm_format.h"
#include "src/core/ir/text.h"

namespace pjrt::ir {

// array<i64: ...> and array<i1: ...>.
inline bool IsI64Array(Attribute attr) {
  return attr.Is(AttrKind::kDenseArray) && attr.type().primitive_type() == S64 &&
         attr.type().signedness() == Signedness::kSignless;
}
inline bool IsBoolArray(Attribute attr) {
  return attr.Is(AttrKind::kDenseArray) && attr.type().primitive_type() == PRED;
}

class AsmPrinter {
 public:
  AsmPrinter(const PrintOptions& options, std::string* out);

  void PrintModule(const Module& module);
  // One op that stands alone: values from outside get names first.
  void PrintLoneOp(const Op& op);

 private:
  // --- printer.cc ---

  // Names the values of a region while it lives. Regions inside of it go on counting; regions
  // beside it count from the same numbers.
  class Scope {
   public:
    Scope(AsmPrinter* printer, const Region& region)
        : printer_(printer), values_(printer->values_), arguments_(printer->arguments_) {
      printer->NumberBlocks(region.block());
    }
    ~Scope() {
      printer_->values_ = values_;
      printer_->arguments_ = arguments_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    AsmPrinter* printer_;
    uint32_t values_;
    uint32_t arguments_;
  };
  void NumberBlocks(const Block* first);
  void NumberOp(const Op& op);
  void NumberArgument(const Value* argument);

  void Indent() { out_->append(2 * static_cast<size_t>(depth_), ' '); }
  void PrintOp(const Op& op);
  void PrintGeneric(const Op& op);
  void PrintLocation(Attribute location);

  // Lines of ops, one level further in than what they belong to.
  void PrintOps(const Block& block);
  // `{ ... }` of a region whose values are named. The first block comes without a label where its
  // arguments are written elsewhere
  // (`bare`), or when it has none.
  void PrintRegion(const Region& region, bool bare);
  void PrintBlockLabel(const Block& block, size_t number);
  // `%a: T loc(...)`.
  void PrintArgument(const Value* argument);

  void Print(absl::string_view text) { out_->append(text.data(), text.size()); }
  void PrintValue(const Value* value);
  void PrintOperands(const Op& op, size_t begin, size_t end);
  void PrintOperands(const Op& op) { PrintOperands(op, 0, op.num_operands()); }
  void PrintType(Type type) { AppendType(type, out_); }
  void PrintAttribute(Attribute attr) { AppendAttribute(attr, text_options_, out_); }
  void PrintOperandTypes(const Op& op);
  void PrintResultTypes(const Op& op);  // T, (T, U) or ()
  void PrintFunctional(const Op& op);   // (Ts) -> Rs

  // --- asm_print.cc ---

  // Names of attributes that the syntax says by itself.
  using Said = absl::InlinedVector<absl::string_view, 8>;
  // ` {...}` of the attributes that have not been said; nothing when there are none. `keyword`
  // stands in front.
  void PrintAttrDict(const Op& op, const Said& said, absl::string_view keyword = "");

  bool PrintPretty(const Op& op);
  bool PrintFormat(const Op& op, const OpInfo& info);
  bool PrintElement(const Op& op, const AsmElement& element, const Said& said);
  void PrintLiteral(const Op& op, absl::Span<const AsmElement> format, size_t i);
  bool PrintNamedOperand(const Op& op, const AsmElement& element);
  bool PrintAttr(const AttrSpec& spec, AsmAttr how, Attribute attr);
  bool PrintEnums(Attribute attr, absl::string_view enum_name);
  bool PrintBalanced(const AttrSpec& spec, Attribute attr);
  bool PrintOneType(const Op& op);
  bool PrintArrow(const Op& op);
  bool PrintOperandTypeList(const Op& op);
  bool PrintPiece(const Op& op, AsmPiece piece);
  static bool PiecePrintsBlank(AsmPiece piece);

  // --- asm_print_pieces.cc ---
  bool PrintConstant(const Op& op);
  bool PrintSlice(const Op& op);
  bool PrintDotGeneral(const Op& op);
  bool PrintConvolution(const Op& op);
  bool PrintCustomCall(const Op& op);
  bool PrintReturn(const Op& op);
  bool PrintBarrier(const Op& op);
  bool PrintCast(const Op& op);
  bool PrintExponentMantissa(const Op& op);
  bool PrintSelectType(const Op& op);
  bool PrintComplexType(const Op& op);
  bool PrintTupleType(const Op& op);

  // --- asm_print_regions.cc ---
  bool PrintReduce(const Op& op);
  bool PrintWhile(const Op& op);
  bool PrintScan(const Op& op);
  bool PrintComposite(const Op& op);
  void PrintComputation(const Op& op);
  bool PrintManualComputation(const Op& op);
  bool PrintNamedComputation(const Op& op);

  // --- asm_print_func.cc ---
  bool PrintFunc(const Op& op);
  bool PrintNestedModule(const Op& op);

  const PrintOptions options_;
  const TextOptions text_options_;
  std::string* out_;
  int depth_ = 0;
  uint32_t values_ = 0;     // the next %N
  uint32_t arguments_ = 0;  // the next %argN
  absl::flat_hash_map<const void*, uint32_t>
      numbers_;  // of ops (for all their results) and of block arguments
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_ASM_PRINTER_H_

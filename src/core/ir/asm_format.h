// SPDX-License-Identifier: Apache-2.0
//
// The pretty syntax of an op (OpInfo::format), cut into elements once for all ops. Printer and
// parser both walk these.
//
//   "$* , dims = @broadcast_dimensions:ints {} : functional"
//
// is kAllOperands, kLiteral ",", kLiteral "dims", kLiteral "=", kAttr (kInts, the row's AttrSpec),
// kAttrDict, kLiteral ":", kFunctional.
#ifndef PJRT_CORE_IR_ASM_FORMAT_H_
#define PJRT_CORE_IR_ASM_FORMAT_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/op_set.h"

namespace pjrt::ir {

enum class AsmKind : uint8_t {
  kLiteral,             // `text`: punctuation of one character, or a word
  kAllOperands,         // $*
  kOperand,             // $name, $name*: entry `operand` of OpInfo::operands
  kAttr,                // @name:how: the attribute of `spec`, spelled as `attr` says
  kGroupBegin,          // ?(   `spec`: its first attribute; `group_end`: the index of its kGroupEnd
  kGroupEnd,            // the ) of ?(
  kAttrDict,            // {}
  kAttrDictAttributes,  // {attributes}
  // Words but behind a literal ":".
  kType,          // type
  kFunctional,    // functional
  kArrow,         // arrow
  kResult,        // result
  kOperandTypes,  // operand-types
  kPiece,         // <name>: hand-written, `piece`
};

// How an attribute is spelled. The parser makes, and the printer demands, an attribute of the row's
// AttrType:
enum class AsmAttr : uint8_t {
  kInts,      // [1, 2]          kI64Array: array<i64>; kBoolArray: array<i1> of true and false
  kInt,       // 3               kI64, kI32, kUI32, kUI64: an integer of that type
  kFloat,     // 0.1             kF64, kF32
  kBool,      // true
  kEnum,      // HIGH            the enum AttrSpec::detail
  kEnums,     // [HIGH, DEFAULT] an array of such
  kString,    // "s"
  kSymbol,    // @f              kSymbol: a symbol; kString: a string (sym_name)
  kElements,  // dense<...> : T
  kBalanced,  // <...> [...] {...}, see OpInfo::format
};

// Where a piece leaves room for doubt, this is what its pretty form stands for:
//   kScan      operandSegmentSizes and resultSegmentSizes are array<i32: n, m>, there exactly when
//   n and m differ. A scan with any other
//              such attribute is written in the generic form.
//   kManualComputation, kNamedComputation
//              in_shardings and out_shardings are opaque, "#sdy.sharding_per_value<[...]>";
//              manual_axes is "#sdy<manual_axes {...}>".
//   kFunc      arg_attrs and res_attrs are there when one of their dictionaries has an entry; the
//   others are {}. kConstant  `constant() <{value = dense<..> : U}> {..} : () -> T` when the
//   value's type is not the result's. kReturn    no attributes; a return that has some is written
//   in the generic form.
enum class AsmPiece : uint8_t {
  kNone,
  kConstant,
  kSlice,
  kDotGeneral,
  kConvolution,
  kReduce,
  kWhile,
  kScan,
  kCustomCall,
  kComposite,
  kReturn,
  kFunc,
  kModule,
  kManualComputation,
  kNamedComputation,
  kExponentMantissa,
  kSelectType,
  kComplexType,
  kTupleType,
  kBarrier,
  kCast,
};

struct AsmElement {
  AsmKind kind = AsmKind::kLiteral;
  AsmAttr attr = AsmAttr::kInts;
  AsmPiece piece = AsmPiece::kNone;
  bool variadic = false;   // kOperand: written $name*
  int operand = -1;        // kOperand
  int group_end = -1;      // kGroupBegin
  absl::string_view text;  // kLiteral: the token; kOperand, kAttr: the name; kPiece: its name
  // kAttr: its row, null when there is none; kGroupBegin: that of the first kAttr inside.
  const AttrSpec* spec = nullptr;
};

// The elements of an op's format in order; empty for an op without pretty syntax. Computed for all
// ops at the first call; thread-safe.
absl::Span<const AsmElement> AsmFormat(OpCode code);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_ASM_FORMAT_H_

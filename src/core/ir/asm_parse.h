// SPDX-License-Identifier: Apache-2.0
//
// Reads the pretty form of one op as its row of the op table says: the inverse of AsmPrinter.
#ifndef PJRT_CORE_IR_ASM_PARSE_H_
#define PJRT_CORE_IR_ASM_PARSE_H_

#include <cstddef>

#include "src/core/ir/asm_format.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {

class AsmParser {
 public:
  AsmParser(Parser* parser, ParsedOp* op, Block* block) : p_(*parser), op_(*op), block_(block) {}

  // From behind the op's name to behind its location; makes the op. False after an error, which the
  // parser has.
  bool Parse(absl::Span<const AsmElement> format);

 private:
  // asm_parse.cc
  bool ParseElement(const AsmElement& element);
  // The dictionary of a pretty form, if there is one. What is wrong with the op's own attributes in
  // it is reported where it begins.
  bool ParseOptionalAttrDict();
  bool ParseLiteral(absl::string_view text);
  // Passes the literals that a group begins with, if they are all there.
  bool GroupIsNext(absl::Span<const AsmElement> group, size_t* literals);
  bool ParseOperands();              // of a list that other things may follow behind a comma
  bool ParseOperands(size_t count);  // exactly so many
  bool ParseAttr(const AsmElement& element);
  bool ParseIntAttr(const AttrSpec& spec);
  bool ParseIntsAttr(absl::string_view name, AttrType type);
  bool ParseEnumAttr(absl::string_view enum_name, Attribute* value);
  bool ParseEnumsAttr(absl::string_view name, absl::string_view enum_name);
  bool ParseBalancedAttr(absl::string_view name, absl::string_view detail, TokenKind open);
  bool ParseElementsAttr(absl::string_view name, Type* type);
  // Adds an attribute that the syntax has given at `at`; an error when the dictionary has given it
  // as well.
  bool Add(const char* at, absl::string_view name, Attribute value);
  // `(Ts) -> Rs`, or `T` for everything.
  bool ParseFunctional();
  bool ParseArrow();
  bool ParseOperandTypes(bool are_results);
  bool SetUniformType(Type type, const char* at);
  bool ParseTypes(ParsedTypes* types);

  // asm_parse_pieces.cc
  bool ParsePiece(AsmPiece piece);
  bool ParseConstant();
  bool ParseSlice();
  bool ParseDotGeneral();
  bool ParseConvolution();
  bool ParseWindow();
  bool ParsePadding();
  bool ParseCustomCall();
  bool ParseReturn();
  bool ParseExponentMantissa();
  bool ParseSelectType();
  bool ParseComplexType();
  bool ParseTupleType();
  bool ParseBarrier();
  bool ParseCast();

  // asm_parse_regions.cc
  bool ParseReduce();
  bool ParseReducerName(absl::string_view* name);
  bool ParseReducerArguments(absl::InlinedVector<RegionArgument, 4>* arguments);
  bool BuildReducer(absl::string_view name, const char* at, Op* reduce);
  bool ParseWhile();
  bool ParseScan();
  bool ParseComposite();
  bool ParseManualComputation();
  bool ParseNamedComputation();
  bool ParseComputation();  // (%arg: T) {...} {attributes} : (Ts) -> Rs
  bool ParseShardings(absl::string_view name);

  Parser& p_;
  ParsedOp& op_;
  Block* block_;
  bool made_ = false;  // a piece has made the op, its regions included
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_ASM_PARSE_H_

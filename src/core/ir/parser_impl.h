// SPDX-License-Identifier: Apache-2.0
//
// The recursive descent parser behind pjrt/ir/parser.h. One class, over several files: parser.cc
// (entry points, errors, aliases), parse_type.cc, parse_quantized.cc, parse_attribute.cc,
// parse_struct.cc, parse_dense.cc, parse_resource.cc, parse_location.cc, parse_op.cc (ops and
// regions in the generic form), parse_func.cc, asm_parse.cc (pretty forms), asm_parse_pieces.cc and
// asm_parse_regions.cc (their hand-written parts).
//
// Methods named Parse... return false after they have recorded an error; the first one recorded is
// the one reported. When they return true, the current token is the first one that they did not
// use.
#ifndef PJRT_CORE_IR_PARSER_IMPL_H_
#define PJRT_CORE_IR_PARSER_IMPL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/parser.h"
#include "src/core/ir/lexer.h"
#include "src/core/ir/text_index.h"
#include "src/core/ir/value_scopes.h"

namespace pjrt::ir {

// The number in [PJRT-Pnnn]; docs/errors.md explains each.
enum class ParseError : uint8_t {
  kSyntax = 1,
  kLexical = 2,
  kUnknownOp = 3,
  kUndefinedValue = 4,
  kRedefinedValue = 5,
  kTypeMismatch = 6,
  kTooDeep = 7,
  kUnbalanced = 8,
  kAlias = 9,
  kDuplicateSymbol = 10,
  kType = 11,
  kNumber = 12,
  kElements = 13,
  kAttribute = 14,
  kDuplicateKey = 15,
  kQuantized = 16,
  kResource = 17,
  kTooLarge = 18,
  kUnsupported = 19,
  kOp = 20,
};

using Int64List = absl::InlinedVector<int64_t, 6>;
using ParsedTypes = absl::InlinedVector<Type, 4>;
using ParsedAttributes = absl::InlinedVector<NamedAttribute, 6>;

// An operand as it is written: the value, and where.
struct ParsedOperand {
  Value* value;
  const char* at;
};
using ParsedOperands = absl::InlinedVector<ParsedOperand, 4>;

// The names in front of an op's `=`: `%a:2, %b`.
struct ResultNames {
  struct Name {
    absl::string_view name;
    uint32_t count;
    const char* at;
  };
  absl::InlinedVector<Name, 2> names;
  uint64_t count = 0;  // of values
};

// A region whose text has been passed by but not read, since what it belongs to could not be made
// yet.
struct PendingRegion {
  Lexer::Position body;  // behind the `{`
  const char* close;     // the `}`
};

// What has been read of an op, before it is made.
struct ParsedOp {
  const char* at = nullptr;  // where its name stands
  uint32_t line = 0;
  uint32_t column = 0;
  absl::string_view name;  // the whole one, "stablehlo.add"
  const OpInfo* info = nullptr;
  const ResultNames* results = nullptr;
  ParsedOperands operands;
  ParsedAttributes attributes;
  ParsedTypes result_types;
  absl::InlinedVector<PendingRegion, 1> regions;
};

// An argument of a region that a pretty form declares outside of it.
struct RegionArgument {
  absl::string_view name;  // without the %
  const char* at;
  Type type;
  Attribute location;
};

// The number that the digits from `begin` to `end` write, rounded once; infinity beyond the range.
// False when some of them belong to no number.
bool ReadDouble(const char* begin, const char* end, double* value);

class Parser {
 public:
  Parser(absl::string_view text, const ParseOptions& options, Context* context);

  absl::Status ParseAll(Module* module);
  absl::Status ParseLoneType(Type* type);
  absl::Status ParseLoneAttribute(Attribute* attribute);

 private:
  // --- parser.cc: tokens and errors ---
  void Next() { tok_ = lexer_.Next(); }
  bool Is(TokenKind kind) const { return tok_.kind == kind; }
  bool IsWord(absl::string_view word) const {
    return tok_.kind == TokenKind::kBareId && tok_.text() == word;
  }
  // Goes on when the current token is of that kind.
  bool Accept(TokenKind kind) {
    if (tok_.kind != kind) return false;
    Next();
    return true;
  }
  bool AcceptWord(absl::string_view word) {
    if (!IsWord(word)) return false;
    Next();
    return true;
  }
  // The same, an error when it is not. `purpose` ("to close the type") ends what was expected.
  bool Expect(TokenKind kind, absl::string_view purpose = {});
  bool ExpectWord(absl::string_view word, absl::string_view purpose = {});
  // Records "unexpected token: expected ..., found <the current token>", at the end of the line
  // before when the token is the first of its line: there something is missing.
  bool Unexpected(absl::string_view expected);
  // Records an error at `at`. `found` is put in quotes when it is text of the program; "" leaves it
  // out.
  bool Fail(ParseError error, const char* at, absl::string_view message, absl::string_view expected,
            absl::string_view found);
  // The same for a rule of the verifier that is broken; true for OK. `op` is the name of the op
  // whose rule it is, "" for a rule of an attribute.
  bool Keeps(const char* at, absl::string_view op, const absl::Status& status);
  // Records `message` with the source line of `at` and a caret.
  void Record(absl::string_view id, const char* at, absl::string_view message);
  std::string FoundToken() const;
  // The text from `begin` to `end`, cut to a line's length and quoted.
  static std::string Quoted(const char* begin, const char* end);
  static std::string Quoted(absl::string_view text) {
    return Quoted(text.data(), text.data() + text.size());
  }
  absl::Status TakeStatus();

  // Counts a level of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser* parser) : parser_(parser) {
      if (++parser->depth_ > parser->deepest_) parser->deepest_ = parser->depth_;
    }
    ~Level() { --parser_->depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    bool ok() const { return parser_->depth_ <= parser_->max_depth_ || parser_->TooDeep(); }

   private:
    Parser* parser_;
  };
  bool TooDeep();
  const TextIndex& Index();
  // Goes to `at` for `parse`, then back to where it was.
  bool ParseElsewhere(const char* at, absl::FunctionRef<bool()> parse);
  // From `<`, `(`, `[` or `{` at `open` to behind the bracket that closes it, over strings and
  // comments. Null, with an error, when brackets do not match.
  const char* SkipBalanced(const char* open);
  // Items between brackets, separated by commas; none is fine. The opening bracket is the current
  // token.
  bool ParseList(TokenKind open, TokenKind close, absl::string_view what,
                 absl::FunctionRef<bool()> item);

  // --- parser.cc: aliases ---
  struct Alias {
    Attribute attribute;
    Type type;
    bool busy = false;                 // its definition is being read
    const char* definition = nullptr;  // behind the `=`
    int depth = 0;                     // how deep its value is nested
    uint64_t weight = 0;               // characters of its value with the aliases in it spelled out
  };
  bool ParseAliasDefinition();
  bool DefineAlias(absl::string_view name, Alias* alias);
  // Reads a definition that stands behind the first use.
  bool DefineForward(absl::string_view name, const char* definition);
  // Reads the definitions of all locations in the order of the text, in which each is made of those
  // before it: chains of them are long.
  bool DefineLocations();
  // The alias that the current token names, wherever it is defined.
  bool FindAlias(const Alias** alias);
  // The same for a use of it in a type or attribute: counts what it adds, and passes the token.
  bool UseAlias(const Alias** alias);

  // --- parse_type.cc ---
  bool ParseType(Type* type);
  bool ParseNamedType(Type* type);
  bool ParseFunctionType(Type* type);
  bool ParseBangType(Type* type);
  bool ParseFuture(Type* type);
  bool ParseTensor(Type* type);
  bool ParseTensorBody(Type* type);
  bool ParseTensorEncoding(absl::Span<const int64_t> dims, const char* at, Int64List* bounds,
                           Attribute* encoding);
  bool ParseShaped(TypeKind kind, Type* type);
  bool ParseDims(Int64List* dims, bool* unranked);
  bool ParseTypeList(TokenKind open, TokenKind close, ParsedTypes* types);
  // `(T, U) -> V`, `(T) -> (U, V)`; the current token is the first parenthesis.
  bool ParseSignature(ParsedTypes* inputs, ParsedTypes* results);
  bool ParseResultTypes(ParsedTypes* results);
  bool ParseQuantized(Type* type);  // parse_quantized.cc
  bool ParseQuantizedStorage(QuantizedParams* params);
  bool ParseScale(const QuantizedParams& params, std::vector<double>* scales,
                  std::vector<int64_t>* zero_points);
  bool ParseScaleTree(const QuantizedParams& params, size_t depth, std::vector<int64_t>* dims,
                      std::vector<double>* scales, std::vector<int64_t>* zero_points);

  // --- parse_attribute.cc ---
  bool ParseAttribute(Attribute* attribute);
  bool ParseWordAttribute(Attribute* attribute);
  bool ParseNumberAttribute(Attribute* attribute);
  bool ParseHashAttribute(Attribute* attribute);
  bool ParseDictAttribute(Attribute* attribute);
  bool ParseArrayAttribute(Attribute* attribute);
  bool ParseDenseArray(Attribute* attribute);
  bool ParseTypeAttribute(Attribute* attribute);
  bool ParseSymbol(std::string* name);
  bool ParseSymbolAttribute(Attribute* attribute);
  bool ParseOpaqueKeyword(Attribute* attribute);
  bool ParseEncodingAttribute(Attribute* attribute);
  // Appends the entries of `{...}` to `entries`. Keys that are there already are errors.
  bool ParseAttrDict(ParsedAttributes* entries);
  bool ParseOptionalAttrDict(ParsedAttributes* entries) {
    return !Is(TokenKind::kLBrace) || ParseAttrDict(entries);
  }
  bool ParseStringToken(std::string* bytes);
  bool Unescape(absl::string_view quoted, std::string* bytes);

  // Numbers. An integer is a sign and a magnitude; hexadecimal ones may be bit patterns of floats.
  struct Integer {
    const char* at = nullptr;
    bool negative = false;
    bool hex = false;
    uint64_t magnitude = 0;
  };
  bool ParseInteger(Integer* integer, absl::string_view what);
  bool ReadInteger(const Token& token, Integer* integer);
  bool ParseInt64(int64_t* value, absl::string_view what);
  // A number without a type, or one behind a colon: `3`, `3 : i64`.
  bool ParsePlainInt(int64_t* value, absl::string_view what);
  bool ParseDouble(double* value, absl::string_view what);
  // [1, 2]; with `words` also true and false.
  bool ParseIntList(Int64List* values, bool words = false);
  // Whether the integer type holds the value, and its bits.
  bool IntegerFits(const Integer& integer, Type type, int64_t* bits);
  // The value of a hexadecimal bit pattern of a float type.
  bool FloatFromBits(const Integer& integer, Type type, double* value);

  // --- parse_struct.cc: the attributes of StableHLO and CHLO that have fields or values ---
  // `name` is "stablehlo.gather"; the current token is the first behind the `<` (and the mnemonic).
  // Passes the closing `>`. The attribute begins at `begin`.
  bool ParseEnumBody(absl::string_view name, Attribute* attribute);
  bool ParseStructBody(absl::string_view name, const char* begin, Attribute* attribute);
  bool ReadStructBody(absl::string_view name, Attribute* attribute);
  bool ParseField(const AttrSpec& field, Attribute* attribute);
  bool ParseConvDims(ParsedAttributes* entries);
  bool ParseConvDimList(absl::string_view letters, int64_t places[2], Int64List* spatial);
  bool ParseEnumValue(absl::string_view enum_name, Attribute* attribute);
  Attribute DefaultField(const AttrSpec& field);
  Attribute MakeStruct(absl::string_view name, absl::Span<const AttrSpec> fields,
                       const ParsedAttributes& given);

  // --- parse_dense.cc ---
  bool ParseDense(Attribute* attribute);
  bool ParseDenseBody(const char* begin, const char* end, Type type, Attribute* attribute);
  bool ParseBlob(const char* at, absl::string_view quoted, Type type, Attribute* attribute);
  bool MakeDenseFromRaw(const char* at, absl::string_view raw, Type type, Attribute* attribute);
  bool ParseStringElements(const char* begin, const char* end, Type type, Attribute* attribute);
  bool CheckDenseType(const char* at, Type type);
  bool CountConstantBytes(const char* at, size_t bytes);
  friend class ElementReader;

  // --- parse_resource.cc ---
  bool ParseDenseResource(Attribute* attribute);
  bool ParseDenseResource(Attribute* attribute, Type* type);
  // The key of a resource: a word or a string.
  bool ParseResourceKey(absl::string_view* key);
  bool ParseResourceBlob(absl::string_view quoted, Type type, Attribute* attribute);
  bool ParseResourceSection();
  bool ParseResourceDict(int level);

  // --- parse_location.cc ---
  bool ParseLocation(Attribute* location);  // from `loc` on
  bool ParseOptionalLocation(Attribute* location) {
    return !IsWord("loc") || ParseLocation(location);
  }
  bool ParseFileLocation(std::string* text);

  // --- parse_op.cc ---
  bool ParseOps(Block* block, TokenKind end);
  bool ParseOp(Block* block);
  bool ParseResultNames(ResultNames* names);
  bool ParseGenericOp(ParsedOp* op, Block* block);
  bool ParseCustomOp(ParsedOp* op, Block* block);
  void ResolveOpName(ParsedOp* op);
  bool ParseForeignOp(ParsedOp* op);  // the few pretty forms of other dialects
  bool ParseOperand(ParsedOperand* operand);
  bool ParseOperandList(ParsedOperands* operands);  // %a, %b; none is fine
  bool CheckOperandTypes(const ParsedOp& op, absl::Span<const Type> types, const char* at);
  bool CheckShapeOfOp(const ParsedOp& op, size_t num_regions);
  // Makes the op in `block`. Null after an error.
  Op* MakeOp(const ParsedOp& op, Block* block, size_t num_regions, Attribute location);
  // Reads the trailing location, makes the op, reads its pending regions (`arguments` tells those
  // of each), defines its results.
  bool FinishOp(ParsedOp* op, Block* block);
  bool FinishOp(ParsedOp* op, Block* block,
                absl::FunctionRef<absl::Span<const RegionArgument>(size_t)> arguments);
  bool DefineResults(const ParsedOp& op, Op* made);
  bool Define(absl::string_view name, const char* at, Value* first, uint32_t count);
  // Passes a region by. The current token is its `{`.
  bool SkipRegion(PendingRegion* region);
  // From the first token behind the `{` to the `}`, which it leaves. `arguments` are those of a
  // first block without a label.
  bool ParseRegion(const ParsedOp& op, Region* region, absl::Span<const RegionArgument> arguments);
  bool ParseRegionBody(Region* region, absl::Span<const RegionArgument> arguments);
  bool ParseBlockLabel(Block* block);
  bool ParseRegionArgument(RegionArgument* argument);

  // --- parse_func.cc ---
  bool ParseModuleOp(ParsedOp* op, Block* block);
  bool ParseFuncOp(ParsedOp* op, Block* block);
  bool ParseFuncArguments(std::vector<RegionArgument>* arguments, ParsedTypes* types,
                          std::vector<Attribute>* attrs);
  bool ParseFuncResults(ParsedTypes* types, std::vector<Attribute>* attrs);
  // Reads the trailing location of an op that has been made, and defines its results.
  bool FinishInline(const ParsedOp& op, Op* made);
  bool UnwrapModule(Module* module);

  // --- asm_parse.cc, asm_parse_pieces.cc, asm_parse_regions.cc ---
  friend class AsmParser;

  absl::string_view text_;
  int max_depth_;
  const ParseOptions& options_;
  Context* context_;
  Module* module_ = nullptr;
  Lexer lexer_;
  Token tok_;
  int depth_ = 0;
  int deepest_ = 0;
  std::string error_;

  std::unique_ptr<TextIndex> index_;
  absl::flat_hash_map<absl::string_view, std::unique_ptr<Alias>> aliases_;  // by name with # or !
  bool locations_defined_ = false;
  uint64_t alias_weight_ = 0;  // characters that the uses of aliases so far stand for
  ValueScopes values_;
  // Those of the module whose ops are read; null inside of other ops.
  absl::flat_hash_set<absl::string_view>* symbols_ = nullptr;
  absl::flat_hash_map<absl::string_view, Type> tensor_types_;  // by what is between < and >
  size_t constant_bytes_ = 0;
  bool resources_read_ = false;
  absl::flat_hash_map<absl::string_view, absl::string_view>
      resources_;  // from keys to blobs in quotes
  std::string scratch_;
  Type i64_, i32_;
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_PARSER_IMPL_H_

// SPDX-License-Identifier: Apache-2.0
//
// The op table: one row for each op of StableHLO, CHLO, func and the few ops of other dialects that
// appear in programs. Parser, printer, verifier, shape inference, builder, support query and
// docs/ops.md all read it: adding an op is adding a row.
#ifndef PJRT_IR_OP_SET_H_
#define PJRT_IR_OP_SET_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/opcode.h"
#include "pjrt/ir/types.h"

namespace pjrt::ir {

class Context;
class Op;
class Region;
class Value;

// Sets of element types, as bits; a row names those that an operand or result may have.
using TypeSet = uint32_t;
inline constexpr TypeSet kB = 1u << 0;      // i1
inline constexpr TypeSet kSI = 1u << 1;     // i2 i4 i8 i16 i32 i64
inline constexpr TypeSet kUI = 1u << 2;     // ui2 ... ui64
inline constexpr TypeSet kF = 1u << 3;      // every float type of StableHLO
inline constexpr TypeSet kC = 1u << 4;      // complex<f32>, complex<f64>
inline constexpr TypeSet kQ = 1u << 5;      // quantized, per tensor
inline constexpr TypeSet kQA = 1u << 6;     // quantized, per axis (and per block)
inline constexpr TypeSet kIndex = 1u << 7;  // index, in shape operands
inline constexpr TypeSet kToken = 1u << 8;  // !stablehlo.token, not a tensor
inline constexpr TypeSet kTuple = 1u << 9;
inline constexpr TypeSet kFuture = 1u << 10;
inline constexpr TypeSet kMemRef = 1u << 11;
inline constexpr TypeSet kUnranked = 1u << 12;  // tensor<*xT> too
inline constexpr TypeSet kI = kSI | kUI;
inline constexpr TypeSet kAny = kF | kB | kI | kC | kQ;
inline constexpr TypeSet kAnything = 0xffffu;
// Demands on the shape, in the same word.
inline constexpr TypeSet kRank0 = 1u << 16;
inline constexpr TypeSet kRank1 = 1u << 17;
inline constexpr TypeSet kStatic = 1u << 18;   // no dynamic dimension
inline constexpr TypeSet kBounded = 1u << 19;  // no dynamic dimension, or one with a bound

enum class Arity : uint8_t { kOne, kOptional, kVariadic };

struct OperandSpec {  // an operand or a result
  absl::string_view name;
  TypeSet types = kAny;
  Arity arity = Arity::kOne;
};

// What an inherent attribute holds. The verifier checks it, the pretty syntax prints it bare.
enum class AttrType : uint8_t {
  kI64,
  kI32,
  kUI32,
  kUI64,
  kF32,
  kF64,
  kBool,
  kUnit,
  kString,
  kSymbol,
  kType,
  kI64Array,   // array<i64: ...>, older dense<...> : tensor<Nxi64> too
  kBoolArray,  // array<i1: ...>
  kI64Matrix,  // dense<...> : tensor<NxMxi64>
  kElements,   // any dense<...>
  kEnum,       // #stablehlo<name VALUE>; `detail` names the enum ("stablehlo.precision")
  kEnumArray,  // [#stablehlo<...>, ...]
  kStruct,     // `detail` names the struct ("stablehlo.gather")
  kArray,
  kDict,
  kAnyAttr,
};

struct AttrSpec {
  absl::string_view name;
  AttrType type = AttrType::kAnyAttr;
  bool optional = false;
  // kEnum, kEnumArray, kStruct: the name of the enum or struct. kI64, kI32: "nonnegative",
  // "positive" or "".
  absl::string_view detail = "";
  // What an absent attribute stands for, for docs; "" says nothing.
  absl::string_view fallback = "";
};

// Facts about an op that passes and backends ask for, as bits.
using Traits = uint32_t;
// Result element i depends on operand elements i alone; one shape throughout.
inline constexpr Traits kElementwise = 1u << 0;
inline constexpr Traits kCommutative = 1u << 1;
inline constexpr Traits kTerminator = 1u << 2;
inline constexpr Traits kIsolated = 1u << 3;  // regions may not use outer values
// Never removed, merged or reordered (custom_call: by its attribute).
inline constexpr Traits kSideEffect = 1u << 4;
inline constexpr Traits kSameTypes = 1u << 5;    // one type throughout (up to dynamism)
inline constexpr Traits kControlFlow = 1u << 6;  // its regions run conditionally or repeatedly
inline constexpr Traits kCollective = 1u << 7;   // talks to other devices
inline constexpr Traits kDeprecated = 1u << 8;
inline constexpr Traits kShapeOperands = 1u << 9;  // operands decide the result's shape: dynamic_*
// Inference gives the result's shape; its element type may be another.
inline constexpr Traits kElementTypeGiven = 1u << 10;
inline constexpr Traits kTranscendental = 1u << 11;  // a function that takes many instructions

// Infers result types from operands, attributes and regions. `out` has an entry a result; errors
// name the rule, without the op or the place, which the caller adds.
struct InferInput {
  Context* context;
  OpCode code;
  absl::Span<Value* const> operands;
  absl::Span<const NamedAttribute> attributes;  // sorted by name
  absl::Span<Region* const> regions;
  Attribute attr(absl::string_view name) const;
  Type operand_type(size_t i) const;
};
using TypeList = absl::InlinedVector<Type, 2>;
using InferFn = absl::Status (*)(const InferInput& in, TypeList* out);
using VerifyFn = absl::Status (*)(const Op& op);

struct OpInfo {
  OpCode code = OpCode::kUnknown;
  absl::string_view name;     // "stablehlo.add"
  absl::string_view summary;  // one line for docs/ops.md
  absl::Span<const OperandSpec> operands;
  absl::Span<const OperandSpec> results;
  absl::Span<const AttrSpec> attributes;
  int min_regions = 0;
  int max_regions = 0;  // -1: any number
  Traits traits = 0;
  // clang-format off
  // The pretty syntax, "" for ops that only have the generic form. Parser and printer interpret it;
  // elements are separated by blanks. Operand types that no element gives are those of the values,
  // which are defined before.
  //   $*               all operands, comma-separated (none is fine)
  //   $name, $name*    one operand; all of a variadic one
  //   ,  (  )  :  =  [  ]  <  >  word     literal tokens
  //   @name:ints       [1, 2]             @name:int     3            @name:bool      true
  //   @name:enum       HIGH               @name:enums   [HIGH, DEFAULT]
  //   @name:string     "s"                @name:symbol  @f           @name:float     0.1
  //   @name:elements   dense<...>
  //   @name:balanced   <...>, [...] or {...} with everything inside kept as it is. The attribute is
  //                    opaque: "#" detail and the text when it is in <> ("#sdy.sharding<@m, [{}]>"),
  //                    else "#dialect<mnemonic text>", from the AttrSpec's detail
  //   ?( ... )         an optional group: printed when the first @attribute in it is present; parsed
  //                    when its first literal tokens (or a value that can start its first element)
  //                    are next
  //   {}               the attribute dictionary, minus what the syntax printed
  //   {attributes}     the same behind the word `attributes`
  //   type             `T` when all operand and result types are equal, else `(Ts) -> Rs`
  //   functional       `(Ts) -> Rs` always (one result without parentheses); `T` is read as well
  //   arrow            `T1, T2 -> R` or `T -> (R1, R2)`: operands without parentheses
  //   result           the type of the only result
  //   operand-types    `T1, T2`; results, if any, have the same types
  //   <name>           a hand-written piece (src/core/ir/asm_*.cc): constant, slice, dot-general,
  //                    convolution, reduce, while, scan, custom-call, composite, return, func, module,
  //                    manual-computation, named-computation; and
  //     exponent-mantissa  `e5m10` for exponent_bits and mantissa_bits
  //     select-type        `Tpred, T` when the other types are equal, else `(Ts) -> R`
  //     complex-type       `R` when the operands' element type is R's part, else `(Ts) -> R`
  //     tuple-type         `R` when its elements are the operands' types, else `(Ts) -> R`
  //     barrier            optimization_barrier's `%a, %b : T1, T2`, `()` without operands
  //     cast               `%a, %b : T1, T2 to R1, R2`
  // A row with attributes operandSegmentSizes or resultSegmentSizes has several variadic operands or
  // results; see SplitOperands. For example broadcast_in_dim:
  //   "$* , dims = @broadcast_dimensions:ints {} : functional"
  // clang-format on
  absl::string_view format;
  InferFn infer = nullptr;  // null: results cannot be inferred and must be given
  // What the specification demands beyond this row's types and the inferred results.
  VerifyFn verify = nullptr;
  bool Has(Traits t) const { return (traits & t) == t; }
};

// The row of an op; for kUnknown a row without a name.
const OpInfo& GetOpInfo(OpCode code);
// kUnknown when no row has that name.
OpCode LookupOp(absl::string_view name);
// All rows in the order of OpCode, kUnknown's excluded.
absl::Span<const OpInfo> AllOps();

// The values of an enum attribute in the order of their numbers, for "stablehlo.precision" and so
// on; empty when there is no such enum.
absl::Span<const absl::string_view> EnumValues(absl::string_view enum_name);

// The fields of a struct attribute such as "stablehlo.gather": name and kind (kI64, kI64Array,
// kType, kBool, ...), in the order printed.
absl::Span<const AttrSpec> StructFields(absl::string_view struct_name);

// The rules that a struct attribute obeys by itself, apart from the op that has it (dot_algorithm,
// result_accuracy, mesh, replica_group_mesh_axes). The parser checks them where it reads one, the
// verifier as part of the op's row.
// OK for attributes without such rules; INVALID_ARGUMENT, "[PJRT-V005] ...".
absl::Status CheckStruct(Attribute attr);

// How many of `count` operands (results) belong to each entry of `specs`. `segment_sizes` is the
// op's operandSegmentSizes (resultSegmentSizes), or null: then variadic entries share what kOne
// entries leave over, evenly. False when that does not come out.
bool SplitOperands(absl::Span<const OperandSpec> specs, size_t count, Attribute segment_sizes,
                   absl::InlinedVector<size_t, 6>* sizes);

// Checks operands, attributes and the number of regions against the op's row, then runs its infer
// function. UNIMPLEMENTED for an op without one, INVALID_ARGUMENT ("[PJRT-Vnnn] rule; given ...,
// expected ...") for a violation. The types are made in `in.context`.
absl::Status InferResultTypes(const InferInput& in, TypeList* out);

}  // namespace pjrt::ir

#endif  // PJRT_IR_OP_SET_H_

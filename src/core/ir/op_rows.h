// SPDX-License-Identifier: Apache-2.0
//
// How the rows of the op table are written down: constexpr data, one family of ops a file
// (op_rows_*.cc), joined by op_set.cc.
//
//   Row(OpCode::kPad, "adds or removes elements at the edges and between elements")
//       .In("operand").In("padding_value").Out("result")
//       .Attr("edge_padding_low", AttrType::kI64Array)...
//       .Asm("$* , low = @edge_padding_low:ints ... : functional")
#ifndef PJRT_CORE_IR_OP_ROWS_H_
#define PJRT_CORE_IR_OP_ROWS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/op_set.h"

namespace pjrt::ir {

// Tensors of any elements, those quantized by axis included.
inline constexpr TypeSet kAnyQ = kAny | kQA;

struct OpRow {
  OpCode code = OpCode::kUnknown;
  absl::string_view summary;
  OperandSpec operands[6];
  OperandSpec results[3];
  AttrSpec attributes[10];
  uint8_t num_operands = 0, num_results = 0, num_attributes = 0;
  int8_t min_regions = 0, max_regions = 0;
  Traits traits = 0;
  absl::string_view format;
  InferFn infer = nullptr;
  VerifyFn verify = nullptr;

  constexpr OpRow In(absl::string_view name, TypeSet types = kAny,
                     Arity arity = Arity::kOne) const {
    OpRow row = *this;
    row.operands[row.num_operands++] = OperandSpec{name, types, arity};
    return row;
  }
  constexpr OpRow Ins(absl::string_view name, TypeSet types = kAny) const {
    return In(name, types, Arity::kVariadic);
  }
  constexpr OpRow Out(absl::string_view name, TypeSet types = kAny,
                      Arity arity = Arity::kOne) const {
    OpRow row = *this;
    row.results[row.num_results++] = OperandSpec{name, types, arity};
    return row;
  }
  constexpr OpRow Outs(absl::string_view name, TypeSet types = kAny) const {
    return Out(name, types, Arity::kVariadic);
  }
  // A mandatory and an optional attribute. `detail` is the enum's or struct's name.
  constexpr OpRow Attr(absl::string_view name, AttrType type, absl::string_view detail = "") const {
    return Add(AttrSpec{name, type, false, detail, ""});
  }
  constexpr OpRow Opt(absl::string_view name, AttrType type, absl::string_view fallback = "",
                      absl::string_view detail = "") const {
    return Add(AttrSpec{name, type, true, detail, fallback});
  }
  constexpr OpRow Regions(int8_t min, int8_t max) const {
    OpRow row = *this;
    row.min_regions = min;
    row.max_regions = max;
    return row;
  }
  constexpr OpRow Regions(int8_t count) const { return Regions(count, count); }
  constexpr OpRow Is(Traits more) const {
    OpRow row = *this;
    row.traits |= more;
    return row;
  }
  constexpr OpRow Asm(absl::string_view text) const {
    OpRow row = *this;
    row.format = text;
    return row;
  }
  constexpr OpRow Infer(InferFn fn) const {
    OpRow row = *this;
    row.infer = fn;
    return row;
  }
  constexpr OpRow Verify(VerifyFn fn) const {
    OpRow row = *this;
    row.verify = fn;
    return row;
  }

 private:
  constexpr OpRow Add(AttrSpec spec) const {
    OpRow row = *this;
    row.attributes[row.num_attributes++] = spec;
    return row;
  }
};

constexpr OpRow Row(OpCode code, absl::string_view summary) {
  OpRow row;
  row.code = code;
  row.summary = summary;
  return row;
}

// The families, each in any order.
absl::Span<const OpRow> ElementwiseRows();
absl::Span<const OpRow> ShapeRows();
absl::Span<const OpRow> ComputeRows();
absl::Span<const OpRow> ControlRows();
absl::Span<const OpRow> CollectiveRows();
absl::Span<const OpRow> ChloRows();
absl::Span<const OpRow> OtherDialectRows();

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_OP_ROWS_H_

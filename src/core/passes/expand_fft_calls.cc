// SPDX-License-Identifier: Apache-2.0
//
// The transforms of old exports: calls with a descriptor, which is a constant in the format of
// FlatBuffers. Element types and shapes say nearly all; what remains is how many dimensions are
// transformed and which way.
#include <cstring>

#include "src/core/passes/expand_custom_calls.h"

namespace pjrt::ir {
namespace {

// A table of a FlatBuffer. Reads outside of the buffer give 0.
class FlatTable {
 public:
  explicit FlatTable(absl::Span<const char> bytes) : bytes_(bytes) {
    table_ = Read<uint32_t>(0);
    vtable_ = table_ - Read<int32_t>(table_);
  }

  // The value of a field; 0 when it is absent.
  template <typename T>
  T Field(int slot) const {
    const int64_t at = FieldAt(slot);
    return at == 0 ? T(0) : Read<T>(at);
  }
  // The length of a field that is a vector.
  uint32_t Length(int slot) const {
    const int64_t at = FieldAt(slot);
    return at == 0 ? 0 : Read<uint32_t>(at + Read<uint32_t>(at));
  }

 private:
  template <typename T>
  T Read(int64_t at) const {
    T value = 0;
    if (at >= 0 && at + static_cast<int64_t>(sizeof(T)) <= static_cast<int64_t>(bytes_.size()))
      std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  int64_t FieldAt(int slot) const {
    const int64_t entry = 4 + 2 * slot;
    if (entry + 2 > Read<uint16_t>(vtable_)) return 0;
    const uint16_t offset = Read<uint16_t>(vtable_ + entry);
    return offset == 0 ? 0 : table_ + offset;
  }

  absl::Span<const char> bytes_;
  int64_t table_, vtable_;
};

}  // namespace

bool ExpandFftCall(Module* module, Op* op) {
  if (op->num_operands() < 2 || op->num_results() != 1) return false;
  const Op* descriptor = op->operand(0)->defining_op();
  const Type x = op->operand_type(1), y = op->result_type();
  if (descriptor == nullptr || !descriptor->Is(OpCode::kConstant) || !x.IsTensor() ||
      !y.IsTensor() || !x.HasStaticShape() || !y.HasStaticShape() ||
      op->operand_type(0).primitive_type() != U8)
    return false;
  const bool is_dynamic = op->StringAttr("call_target_name") == "dynamic_ducc_fft";
  const FlatTable table(descriptor->attr("value").raw_data());
  const uint32_t axes = table.Length(is_dynamic ? 3 : 5);
  const bool forward = table.Field<uint8_t>(is_dynamic ? 4 : 6) != 0;
  if (axes < 1 || axes > 3 || x.rank() < axes || y.rank() != x.rank()) return false;
  const bool from_complex = IsComplex(x.primitive_type()),
             to_complex = IsComplex(y.primitive_type());
  const FftType type = !from_complex ? FftType::kRfft
                       : !to_complex ? FftType::kIrfft
                       : forward     ? FftType::kFft
                                     : FftType::kIfft;
  const absl::Span<const int64_t> lengths =
      (to_complex ? x : y).dims().subspan(static_cast<size_t>(x.rank() - axes));
  Emitter emit(module, op);
  Op* made = emit.Make("stablehlo.fft", {op->operand(1)}, {y},
                       {{"fft_type", EnumToAttr(emit.context(), type)},
                        {"fft_length", emit.context().I64Array(lengths)}});
  if (!KeepIfValid(made)) return false;
  Replace(op, {made->result()});
  return true;
}

}  // namespace pjrt::ir

// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/scalar_assembler.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "src/cpu_device/loop/scalar_optimizer.h"
#include "src/cpu_device/run/index.h"

namespace pjrt::cpu {
namespace {

// A longer program is better run step by step.
constexpr int64_t kMaxInstrs = 16384;
// A buffer of more bytes stays in memory.
constexpr int64_t kMaxRegisterBytes = 64;

bool IsElementSize(int64_t bytes) { return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8; }

// The form of a load or store for an element size.
ScalarOp Sized(ScalarOp op8, int size) {
  return static_cast<ScalarOp>(static_cast<int>(op8) + (size == 1   ? 0
                                                        : size == 2 ? 1
                                                        : size == 4 ? 2
                                                                    : 3));
}

// Whether an extremum of the constant, if it is one, and x is x: what reductions begin with.
bool IsNeutral(BlockOp op, CType type, const uint64_t* constant) {
  if (constant == nullptr || (op != BlockOp::kMaximum && op != BlockOp::kMinimum)) return false;
  const bool is_maximum = op == BlockOp::kMaximum;
  if (type == CType::kF32)
    return static_cast<uint32_t>(*constant) == (is_maximum ? 0xff800000u : 0x7f800000u);
  return type == CType::kF64 &&
         *constant == (is_maximum ? 0xfff0000000000000u : 0x7ff0000000000000u);
}

}  // namespace

ScalarAssembler::Root& ScalarAssembler::RootOf(BufferId buffer) {
  auto [it, inserted] = root_of_.try_emplace(buffer, kNoBuffer);
  if (!inserted) return roots_[it->second];
  const ScalarBuffer described = describe_(buffer);
  it->second = described.root;
  Root& root = roots_[described.root];
  if (root.buffer.root == kNoBuffer) root.buffer = described;
  if (described.bytes > kMaxRegisterBytes) root.in_memory = true;
  return root;
}

bool ScalarAssembler::EndSurvey() {
  // A buffer that is only copied has the elements of what it is copied to or from.
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [from, to] : copies_) {
      Root& f = roots_[from];
      Root& t = roots_[to];
      if (f.unit == 0 && t.unit != 0) {
        f.unit = t.unit;
        changed = true;
      } else if (t.unit == 0 && f.unit != 0) {
        t.unit = f.unit;
        changed = true;
      }
    }
  }
  for (auto& [id, root] : roots_) {
    if (root.unit == 0) root.unit = IsElementSize(root.buffer.bytes) ? root.buffer.bytes : 4;
    if (root.buffer.bytes % root.unit != 0 || root.buffer.bytes / root.unit > kMaxElements)
      root.in_memory = true;
  }
  for (const auto& [from, to] : copies_) {
    Root& f = roots_[from];
    Root& t = roots_[to];
    if (f.unit != t.unit) f.in_memory = t.in_memory = true;
  }
  surveying_ = false;
  constant_index_.clear();
  constants_.clear();
  labels_.clear();
  num_temps_ = most_temps_ = 0;
  return survey_size_ <= kMaxInstrs;
}

void ScalarAssembler::BeginStep() {
  most_temps_ = std::max(most_temps_, num_temps_);
  num_temps_ = 0;
}

ScalarAssembler::Reg ScalarAssembler::Constant(const void* bits, int size) {
  uint64_t value = 0;
  std::memcpy(&value, bits, size);
  auto [it, inserted] = constant_index_.try_emplace(value, kNoReg);
  if (inserted) {
    it->second = kConstant | static_cast<Reg>(constants_.size());
    constants_.push_back(value);
  }
  return it->second;
}

const uint64_t* ScalarAssembler::AsConstant(Reg reg) const {
  return reg != kNoReg && KindOf(reg) == kConstant ? &constants_[reg & kNumber] : nullptr;
}

ScalarAssembler::Reg ScalarAssembler::Address(Root* root) {
  if (surveying_) return NewTemp();
  if (root->base == kNoReg) {
    root->base = NewKept();
    addresses_.emplace_back(root->base, root->buffer.root);
  }
  return root->base;
}

ScalarAssembler::Reg ScalarAssembler::Emit(ScalarOp op, Reg dst, Reg a, Reg b, Reg c, int64_t imm) {
  ++survey_size_;
  if (surveying_) return dst;
  Pending pending{{}, dst, a, b, c};
  pending.instr.op = op;
  pending.instr.u.imm = imm;
  code_.push_back(pending);
  return dst;
}

ScalarAssembler::Reg ScalarAssembler::Place(Root* root, int64_t offset, int size) {
  if (surveying_) {
    ++survey_size_;
    if (root->unit == 0) root->unit = size;
    if (root->unit != size || offset % size != 0 || root->buffer.bytes % size != 0)
      root->in_memory = true;
    return kNoReg;
  }
  if (root->in_memory) return kNoReg;
  if (root->base == kNoReg) {
    root->base = NewKept();
    num_kept_ += static_cast<int32_t>(root->buffer.bytes / root->unit) - 1;
  }
  return root->base + static_cast<Reg>(offset / root->unit);
}

ScalarAssembler::Reg ScalarAssembler::Target(BufferId buffer, int64_t offset, int size) {
  Root& root = RootOf(buffer);
  root.defined = true;
  return Place(&root, offset, size);
}

ScalarAssembler::Reg ScalarAssembler::Read(BufferId buffer, int64_t offset, int size) {
  Root& root = RootOf(buffer);
  ++root.reads;
  if (root.buffer.constant != nullptr) return Constant(root.buffer.constant + offset, size);
  const Reg place = Place(&root, offset, size);
  if (place != kNoReg) return place;
  return Emit(Sized(ScalarOp::kLoad8, size), NewTemp(), Address(&root), kNoReg, kNoReg, offset);
}

void ScalarAssembler::Write(BufferId buffer, int64_t offset, int size, Reg value) {
  const Reg place = Target(buffer, offset, size);
  if (place != kNoReg) {
    Move(place, value);
    return;
  }
  Emit(Sized(ScalarOp::kStore8, size), kNoReg, Address(&RootOf(buffer)), value, kNoReg, offset);
}

bool ScalarAssembler::IsInside(BufferId buffer, int64_t offset, int size) {
  return offset >= 0 && offset <= RootOf(buffer).buffer.bytes - size;
}

ScalarAssembler::Reg ScalarAssembler::ReadAt(BufferId buffer, int64_t offset, Reg at, int size) {
  if (const uint64_t* known = AsConstant(at)) {
    offset += static_cast<int64_t>(*known);
    return IsInside(buffer, offset, size) ? Read(buffer, offset, size) : Integer(0);
  }
  Root& root = RootOf(buffer);
  ++root.reads;
  root.in_memory = true;
  return Emit(Sized(ScalarOp::kLoadAt8, size), NewTemp(), Address(&root), at, kNoReg, offset);
}

void ScalarAssembler::WriteAt(BufferId buffer, int64_t offset, Reg at, int size, Reg value) {
  if (const uint64_t* known = AsConstant(at)) {
    offset += static_cast<int64_t>(*known);
    if (IsInside(buffer, offset, size)) Write(buffer, offset, size, value);
    return;
  }
  Root& root = RootOf(buffer);
  root.in_memory = true;
  Emit(Sized(ScalarOp::kStoreAt8, size), kNoReg, Address(&root), at, value, offset);
}

bool ScalarAssembler::Copy(BufferId from, int64_t from_offset, BufferId to, int64_t to_offset,
                           int64_t bytes, int size) {
  Root& f = RootOf(from);
  Root& t = RootOf(to);
  const BufferPlace &fp = f.buffer.place, &tp = t.buffer.place;
  const bool same_place = from_offset == to_offset && fp.kind == tp.kind && fp.index == tp.index &&
                          fp.offset == tp.offset && fp.kind != BufferPlace::kConstant;
  const bool whole =
      from_offset == 0 && to_offset == 0 && f.buffer.bytes == bytes && t.buffer.bytes == bytes;
  if (surveying_) {
    if (bytes > kMaxRegisterBytes) {
      f.in_memory = t.in_memory = true;
      return same_place;
    }
    if (whole) {
      copies_.emplace_back(f.buffer.root, t.buffer.root);
      t.defined = true;
      ++f.reads;
      survey_size_ += kMaxElements;
      return true;
    }
  }
  if (!surveying_ && f.in_memory && t.in_memory && same_place) return true;
  if (!whole && (!IsElementSize(size) || bytes > kMaxElements * size)) return false;
  const int unit = whole ? f.unit : size;
  for (int64_t at = 0; at < bytes; at += unit)
    Write(to, to_offset + at, unit, Read(from, from_offset + at, unit));
  return true;
}

void ScalarAssembler::Move(Reg to, Reg from) {
  if (to != from) Emit(ScalarOp::kMove, to, from);
}

ScalarAssembler::Reg ScalarAssembler::Op(BlockOp op, CType type, CType operand_type, Reg a, Reg b,
                                         Reg c, Reg dst) {
  const BlockFn fn = kernels_.op[static_cast<int>(op)][static_cast<int>(operand_type)][0];
  if (fn == nullptr) return kNoReg;
  const uint64_t *ka = AsConstant(a), *kb = AsConstant(b), *kc = AsConstant(c);
  if (ka != nullptr && (b == kNoReg || kb != nullptr) && (c == kNoReg || kc != nullptr)) {
    uint64_t result = 0;
    fn(&result, ka, kb, kc, 1);
    return Constant(&result, kCTypeSize[static_cast<int>(type)]);
  }
  if (op == BlockOp::kSelect && ka != nullptr) return (*ka & 0xff) != 0 ? b : c;
  if (op == BlockOp::kClamp) {
    // Maximum and minimum in the kernels' order of operands.
    const auto low = FindScalarOp(BlockOp::kMaximum, operand_type);
    const auto high = FindScalarOp(BlockOp::kMinimum, operand_type);
    if (low.has_value() && high.has_value()) {
      const Reg raised = Emit(low->op, NewTemp(), b, a);
      return Emit(high->op, dst == kNoReg ? NewTemp() : dst, raised, c);
    }
  }
  if (dst == kNoReg) dst = NewTemp();
  if (IsNeutral(op, operand_type, ka)) return Emit(ScalarOp::kMove, dst, b);
  if (IsNeutral(op, operand_type, kb)) return Emit(ScalarOp::kMove, dst, a);
  if (const auto choice = FindScalarOp(op, operand_type)) {
    if (choice->swap) std::swap(a, b);
    if (kb != nullptr) {
      const Reg shifted = PowerOfTwoOp(choice->op, a, *kb, dst);
      if (shifted != kNoReg) return shifted;
    }
    return Emit(choice->op, dst, a, b, c);
  }
  if (c == kNoReg) {
    Emit(ScalarOp::kCallOp, dst, a, b == kNoReg ? a : b);
  } else {
    Emit(ScalarOp::kCallTernary, dst, a, b, c);
  }
  if (!surveying_) code_.back().instr.u.op = fn;
  return dst;
}

ScalarAssembler::Reg ScalarAssembler::PowerOfTwoOp(ScalarOp op, Reg a, uint64_t b, Reg dst) {
  // Below 2^31, so that it is the same number in each type.
  if (b == 0 || (b & (b - 1)) != 0 || b > (uint64_t{1} << 30)) return kNoReg;
  int64_t shift = 0;
  while ((uint64_t{1} << shift) < b) ++shift;
  switch (op) {
    case ScalarOp::kDivS32:
      return Emit(ScalarOp::kDivShiftS32, dst, a, Integer(shift));
    case ScalarOp::kDivS64:
      return Emit(ScalarOp::kDivShiftS64, dst, a, Integer(shift));
    case ScalarOp::kDivU32:
      return Emit(ScalarOp::kShr32, dst, a, Integer(shift));
    case ScalarOp::kDivU64:
      return Emit(ScalarOp::kShr64, dst, a, Integer(shift));
    case ScalarOp::kRemS32:
      return Emit(ScalarOp::kRemMaskS32, dst, a, Integer(static_cast<int64_t>(b - 1)));
    case ScalarOp::kRemS64:
      return Emit(ScalarOp::kRemMaskS64, dst, a, Integer(static_cast<int64_t>(b - 1)));
    case ScalarOp::kRemU32:
    case ScalarOp::kRemU64:
      return Emit(ScalarOp::kAnd, dst, a, Integer(static_cast<int64_t>(b - 1)));
    default:
      return kNoReg;
  }
}

ScalarAssembler::Reg ScalarAssembler::CallOp(BlockFn op, Reg a, Reg b) {
  const Reg dst = Emit(ScalarOp::kCallOp, NewTemp(), a, b);
  if (!surveying_) code_.back().instr.u.op = op;
  return dst;
}

ScalarAssembler::Reg ScalarAssembler::Convert(CType to, CType from, Reg a, Reg dst) {
  const ConvertFn fn = kernels_.convert[static_cast<int>(to)][static_cast<int>(from)];
  if (fn == nullptr) return kNoReg;
  if (AsConstant(a) == nullptr) {
    if (const auto op = FindScalarConvert(to, from))
      return Emit(*op, dst == kNoReg ? NewTemp() : dst, a);
  }
  return CallConvert(fn, a, kCTypeSize[static_cast<int>(to)], dst);
}

ScalarAssembler::Reg ScalarAssembler::CallConvert(ConvertFn convert, Reg a, int result_size,
                                                  Reg dst) {
  if (const uint64_t* known = AsConstant(a)) {
    uint64_t result = 0;
    convert(&result, known, 1);
    return Constant(&result, result_size);
  }
  if (dst == kNoReg || dst == a) dst = NewTemp();
  Emit(ScalarOp::kCallConvert, dst, a);
  if (!surveying_) code_.back().instr.u.convert = convert;
  return dst;
}

ScalarAssembler::Reg ScalarAssembler::Index(PrimitiveType type, Reg index, int64_t limit,
                                            int64_t stride, Reg sum) {
  if (limit == 0) return sum;
  const uint64_t *known = AsConstant(index), *known_sum = AsConstant(sum);
  if (known != nullptr && known_sum != nullptr) {
    const int64_t start = ReadIndex(type, reinterpret_cast<const char*>(known), 0);
    return Integer(static_cast<int64_t>(*known_sum) +
                   stride * std::clamp<int64_t>(start, 0, limit));
  }
  ScalarOp op;
  switch (type) {
    case S32:
      op = ScalarOp::kIndexS32;
      break;
    case S64:
      op = ScalarOp::kIndexS64;
      break;
    case U32:
      op = ScalarOp::kIndexU32;
      break;
    case U64:
      op = ScalarOp::kIndexU64;
      break;
    default:
      index = WideIndex(type, index);
      op = ScalarOp::kIndexS64;
  }
  return Emit(op, NewTemp(), index, sum, Integer(limit), stride);
}

ScalarAssembler::Reg ScalarAssembler::WideIndex(PrimitiveType type, Reg index) {
  return Convert(CType::kS64, ComputeTypeOf(type), index);
}

ScalarAssembler::Reg ScalarAssembler::MulAdd(Reg a, int64_t stride, Reg sum) {
  const uint64_t *known = AsConstant(a), *known_sum = AsConstant(sum);
  if (known != nullptr && known_sum != nullptr)
    return Integer(static_cast<int64_t>(*known * static_cast<uint64_t>(stride) + *known_sum));
  if (stride == 1 && known_sum != nullptr && *known_sum == 0) return a;
  return Emit(ScalarOp::kMulAdd, NewTemp(), a, sum, kNoReg, stride);
}

ScalarAssembler::Label ScalarAssembler::NewLabel() {
  labels_.push_back(-1);
  return static_cast<Label>(labels_.size()) - 1;
}

void ScalarAssembler::Bind(Label label) {
  labels_[label] = last_label_at_ = static_cast<int32_t>(code_.size());
}

void ScalarAssembler::Jump(Label label) {
  Emit(ScalarOp::kJump, kNoReg);
  if (!surveying_) code_.back().label = label;
}

void ScalarAssembler::JumpUnlessIndex(PrimitiveType type, Reg index, int64_t size, Label label) {
  // As numbers without a sign, negative ones are beyond every size.
  ScalarOp op = ScalarOp::kJumpUnlessLtU64;
  if ((type == S32 || type == U32) && size <= std::numeric_limits<int32_t>::max()) {
    op = ScalarOp::kJumpUnlessLtU32;
  } else if (type != S64 && type != U64) {
    index = WideIndex(type, index);
  }
  Emit(op, kNoReg, index, Integer(size));
  if (!surveying_) code_.back().label = label;
}

void ScalarAssembler::JumpIf(BufferId buffer, bool when, Label label) {
  Root& root = RootOf(buffer);
  ++root.branch_reads;
  const Reg predicate = Read(buffer, 0, 1);
  if (surveying_) return;
  if (const uint64_t* known = AsConstant(predicate)) {
    if (((*known & 0xff) != 0) == when) Jump(label);
    return;
  }
  // A comparison that only this jump asks for becomes part of it.
  if (!code_.empty() && code_.back().dst == predicate && root.reads == root.branch_reads &&
      !root.buffer.live_out && last_label_at_ < static_cast<int32_t>(code_.size())) {
    if (const auto jump = CompareAsJump(code_.back().instr.op, when)) {
      code_.back().instr.op = *jump;
      code_.back().dst = kNoReg;
      code_.back().label = label;
      return;
    }
  }
  Emit(when ? ScalarOp::kJumpIf : ScalarOp::kJumpUnless, kNoReg, predicate);
  code_.back().label = label;
}

void ScalarAssembler::Switch(BufferId number, absl::Span<const Label> labels) {
  const Reg value = Read(number, 0, 4);
  Emit(ScalarOp::kSwitch, kNoReg, value, kNoReg, kNoReg, static_cast<int64_t>(labels.size()));
  for (Label label : labels) Jump(label);
}

uint16_t ScalarAssembler::Final(Reg reg) const {
  if (reg == kNoReg) return 0;
  const int32_t number = reg & kNumber;
  const int32_t constants = static_cast<int32_t>(constants_.size());
  switch (KindOf(reg)) {
    case kConstant:
      return static_cast<uint16_t>(number);
    case kKept:
      return static_cast<uint16_t>(constants + number);
    default:
      return static_cast<uint16_t>(constants + num_kept_ + number);
  }
}

bool ScalarAssembler::Finish(ScalarProgram* program) {
  BeginStep();
  Emit(ScalarOp::kEnd, kNoReg);
  program->num_registers = static_cast<int>(constants_.size()) + num_kept_ + most_temps_;
  if (static_cast<int64_t>(code_.size()) > kMaxInstrs || program->num_registers > kMaxInstrs)
    return false;
  program->constants = constants_;
  for (const auto& [reg, buffer] : addresses_) program->pointers.emplace_back(Final(reg), buffer);
  for (const auto& [id, root] : roots_) {
    if (root.in_memory || root.base == kNoReg) continue;
    for (int64_t offset = 0; offset < root.buffer.bytes; offset += root.unit) {
      ScalarProgram::Transfer transfer;
      transfer.reg = Final(root.base + static_cast<Reg>(offset / root.unit));
      transfer.size = static_cast<uint8_t>(root.unit);
      transfer.buffer = id;
      transfer.offset = offset;
      if (root.buffer.live_in) program->loads.push_back(transfer);
      if (root.buffer.live_out && root.defined) program->stores.push_back(transfer);
    }
  }
  program->code.reserve(code_.size());
  for (size_t i = 0; i < code_.size(); ++i) {
    const Pending& pending = code_[i];
    ScalarInstr instr = pending.instr;
    instr.dst = Final(pending.dst);
    instr.a = Final(pending.a);
    instr.b = Final(pending.b);
    instr.c = Final(pending.c);
    if (pending.label >= 0) instr.u.imm = labels_[pending.label] - static_cast<int64_t>(i);
    program->code.push_back(instr);
  }
  std::vector<uint16_t> live_out;
  for (const ScalarProgram::Transfer& store : program->stores) live_out.push_back(store.reg);
  OptimizeScalarCode(program->constants, live_out, program->num_registers, &program->code);
  LinkScalarCode(absl::MakeSpan(program->code));
  return true;
}

}  // namespace pjrt::cpu

// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/block_fold.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

// Short points are folded side by side up to this width: a sum waits for the one before.
constexpr int64_t kWideBytes = 256;
// Several points are read at a time, but no more: memory gives some streams sooner than one that is
// broken off again and again, and many get in each other's way.
constexpr int64_t kStreams = 16;
constexpr int64_t kBytesTogether = 4096;
// So many points of so many bytes are read at a time.
int64_t PointsTogether(int64_t bytes) {
  return std::max<int64_t>(kBytesTogether / (bytes * kStreams), 1) * kStreams;
}

// While the chosen element of a row is looked for, so many bytes of what follows are asked for,
// which takes about as long; more of them would have to be waited for.
constexpr int64_t kAskedARow = 2048;
// Of what a shorter row asks for, half is asked for while its extreme is found: maxima and their
// places of rows of 1024 bytes went from .48 to .61 of memcpy's bandwidth on an Emerald Rapids.
// Longer rows, and very short ones, are quicker folded together.
constexpr int64_t kAskedTwice = 1024;
// Always inline: a call to what only asks for lines is one that compilers leave out.
ABSL_ATTRIBUTE_ALWAYS_INLINE inline void AskFor(const char* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kCacheLine) __builtin_prefetch(from + at, 0, 2);
}

bool IsZero(const char* element, int size) {
  if (size == 4) {
    float value;
    std::memcpy(&value, element, sizeof(value));
    return value == 0;
  }
  double value;
  std::memcpy(&value, element, sizeof(value));
  return value == 0;
}

bool IsNan(const char* element, int size) {
  if (size == 4) {
    float value;
    std::memcpy(&value, element, sizeof(value));
    return value != value;
  }
  double value;
  std::memcpy(&value, element, sizeof(value));
  return value != value;
}

// Leaves the companions of a choice to be counted, where they are numbers that all inner points of
// a reduced one share.
void CountCompanions(LoopProgram* program, LoopReduce* reduce) {
  if (!reduce->choice.has_value()) return;
  LoopChoice& choice = *reduce->choice;
  const LoopInstr& instr = program->instrs[reduce->values[1 - choice.value]];
  choice.companion_type = instr.type;
  if (instr.kind != LoopInstr::kIota || choice.counted_by >= 0) return;
  if (instr.type != CType::kS32 && instr.type != CType::kU32 && instr.type != CType::kS64 &&
      instr.type != CType::kU64)
    return;
  const Dims& strides = program->iotas[instr.index].strides;
  const int inner = program->num_outer + program->num_reduced;
  for (int d = inner; d < static_cast<int>(program->dims.size()); ++d) {
    if (program->dims[d] != 1 && strides[d] != 0) return;
  }
  choice.counted_by = instr.index;
  reduce->values[1 - choice.value] = reduce->values[choice.value];
}

// The values that are more than reduced, or share their input with another one.
std::vector<bool> UsedByOthers(const LoopProgram& program) {
  std::vector<bool> used(program.instrs.size());
  std::vector<int> readers(program.inputs.size());
  for (const LoopInstr& instr : program.instrs) {
    for (LoopValue arg : instr.args) {
      if (arg >= 0) used[arg] = true;
    }
    if (instr.kind == LoopInstr::kInput || instr.kind == LoopInstr::kGather) ++readers[instr.index];
  }
  for (const LoopStore& store : program.stores) used[store.value] = true;
  for (const LoopReduce& reduce : program.reduces) {
    for (int32_t input : reduce.init_inputs) ++readers[input];
  }
  for (size_t i = 0; i < program.instrs.size(); ++i) {
    const LoopInstr& instr = program.instrs[i];
    if (instr.kind == LoopInstr::kInput && readers[instr.index] > 1) used[i] = true;
  }
  return used;
}

// Leaves the squares of floats that a sum adds to the fold.
void AddSquares(LoopProgram* program) {
  const std::vector<bool> used = UsedByOthers(*program);
  for (LoopReduce& reduce : program->reduces) {
    const LoopValue value = reduce.values[0];
    const LoopInstr& instr = program->instrs[value];
    if (!reduce.has_monoid || reduce.monoid != Monoid::kAdd || used[value] ||
        instr.kind != LoopInstr::kOp || instr.op != BlockOp::kMultiply ||
        instr.args[0] != instr.args[1] || (instr.type != CType::kF32 && instr.type != CType::kF64))
      continue;
    reduce.of_squares = true;
    reduce.values[0] = instr.args[0];
  }
  Simplify(program);
}

// How a monoid folds values that are not what is folded: those whose squares it adds up, and narrow
// floats. Null for others.
const FoldKernels::Narrow* FoldsOfSource(const FoldKernels& kernels, const LoopReduce& reduce,
                                         CType type, PrimitiveType narrow) {
  if (reduce.of_squares) {
    return narrow == BF16        ? &kernels.squares.bf16
           : narrow == F16       ? &kernels.squares.f16
           : type == CType::kF64 ? &kernels.squares.f64
                                 : &kernels.squares.f32;
  }
  if (!reduce.has_monoid || narrow == PRIMITIVE_TYPE_INVALID) return nullptr;
  return &(narrow == BF16 ? kernels.bf16 : kernels.f16)[static_cast<int>(reduce.monoid)];
}

}  // namespace

void Fold::Load(char* to, const char* values, int64_t n) const {
  if (load != nullptr) {
    load(to, values, n);
    values = to;
  }
  if (multiply != nullptr) {
    multiply(to, values, values, nullptr, n);
  } else if (load == nullptr) {
    std::memcpy(to, values, n * sizes[value()]);
  }
}

void Fold::Onto(char* to, const char* from, int64_t count, int64_t n, int64_t stride,
                bool in_order) const {
  const int64_t size = value_sizes[0];
  int64_t beside = 1;
  while (2 * beside * n * sizes[0] <= kWideBytes) beside *= 2;
  if (!in_order && beside > 1 && stride == n * size && count >= 4 * beside) {
    alignas(64) char wide[kWideBytes];
    const int64_t width = n * beside, wide_count = count / beside;
    Load(wide, from, width);
    Onto(wide, from + width * size, wide_count - 1, width, width * size, false);
    for (int64_t half = width / 2; half >= n; half /= 2)
      op(wide, wide, wide + half * sizes[0], nullptr, half);
    op(to, to, wide, nullptr, n);
    from += wide_count * width * size;
    count -= wide_count * beside;
  }
  const int64_t together = in_order && n * size >= kLongRunBytes ? count : PointsTogether(n * size);
  for (; count > 0; count -= together, from += together * stride)
    points(to, from, std::min(together, count), n, stride / size, in_order);
}

Folder::Folder(const Kernels& kernels, const LoopProgram& program)
    : k_(*kernels.block), fold_kernels_(*kernels.fold), p_(program) {}

std::vector<PrimitiveType> SimplifyValues(const FoldKernels& kernels, LoopProgram* program) {
  LoopProgram& p = *program;
  for (LoopReduce& reduce : p.reduces) CountCompanions(&p, &reduce);
  AddSquares(&p);
  const std::vector<bool> used = UsedByOthers(p);
  std::vector<PrimitiveType> result(p.reduces.size(), PRIMITIVE_TYPE_INVALID);
  const auto narrow_of = [&](const LoopReduce& reduce) {
    const LoopInstr& instr = p.instrs[reduce.values[0]];
    if (used[reduce.values[0]] || instr.kind != LoopInstr::kInput) return PRIMITIVE_TYPE_INVALID;
    const PrimitiveType type = p.inputs[instr.index].type;
    if (type != BF16 && type != F16) return PRIMITIVE_TYPE_INVALID;
    bool has_kernel = false;
    if (reduce.has_monoid) {
      has_kernel = FoldsOfSource(kernels, reduce, instr.type, type)->op != nullptr;
    } else if (reduce.choice.has_value() && reduce.choice->counted_by >= 0) {
      has_kernel =
          (type == BF16 ? kernels.bf16_choice : kernels.f16_choice).choose_places != nullptr;
    }
    return has_kernel ? type : PRIMITIVE_TYPE_INVALID;
  };
  for (size_t i = 0; i < p.reduces.size(); ++i) {
    const LoopValue value = p.reduces[i].values[0];
    result[i] = narrow_of(p.reduces[i]);
    for (const LoopReduce& other : p.reduces) {
      for (LoopValue v : other.values) {
        if (v == value && narrow_of(other) == PRIMITIVE_TYPE_INVALID)
          result[i] = PRIMITIVE_TYPE_INVALID;
      }
    }
  }
  for (size_t i = 0; i < p.reduces.size(); ++i) {
    if (result[i] == PRIMITIVE_TYPE_INVALID) continue;
    LoopInstr& instr = p.instrs[p.reduces[i].values[0]];
    instr.type = CType::kU16;
    p.inputs[instr.index].type = U16;
  }
  Simplify(program);
  return result;
}

absl::Status Folder::Init(const LoopEngine& engine, absl::Span<const PrimitiveType> reads_narrow) {
  for (size_t i = 0; i < p_.reduces.size(); ++i)
    PJRT_RETURN_IF_ERROR(Add(p_.reduces[i], engine, reads_narrow[i]));
  return absl::OkStatus();
}

absl::Status Folder::Add(const LoopReduce& reduce, const LoopEngine& engine, PrimitiveType narrow) {
  Fold fold;
  fold.reduce = &reduce;
  fold.first_output = p_.stores.size();
  for (const Fold& before : folds_) {
    fold.first_block += before.sizes.size();
    fold.first_output += before.sizes.size();
  }
  for (LoopValue v : reduce.values)
    fold.value_sizes.push_back(kCTypeSize[static_cast<int>(p_.instrs[v].type)]);
  fold.sizes = fold.value_sizes;
  if (reduce.choice.has_value()) {
    fold.sizes[1 - reduce.choice->value] =
        kCTypeSize[static_cast<int>(reduce.choice->companion_type)];
  }
  const CType value_type = p_.instrs[reduce.values[0]].type;
  if (const FoldKernels::Narrow* const folds =
          FoldsOfSource(fold_kernels_, reduce, value_type, narrow)) {
    const bool is_narrow = narrow != PRIMITIVE_TYPE_INVALID;
    const int monoid = static_cast<int>(reduce.monoid),
              type = static_cast<int>(is_narrow ? CType::kF32 : value_type);
    fold.sizes[0] = kCTypeSize[type];
    fold.op = k_.op[static_cast<int>(MonoidOp(reduce.monoid))][type][0];
    fold.value_op = folds->op;
    fold.rows = folds->rows;
    fold.points = folds->points;
    fold.accumulator_rows = k_.reduce_rows[monoid][type];
    if (is_narrow) fold.load = k_.load[narrow];
    if (reduce.of_squares) fold.multiply = k_.op[static_cast<int>(BlockOp::kMultiply)][type][0];
  } else if (reduce.has_monoid) {
    const int type = static_cast<int>(value_type);
    fold.op = k_.op[static_cast<int>(MonoidOp(reduce.monoid))][type][0];
    fold.rows = fold.accumulator_rows = k_.reduce_rows[static_cast<int>(reduce.monoid)][type];
    fold.value_op = fold.op;
    fold.points = fold_kernels_.points[static_cast<int>(reduce.monoid)][type];
    if (fold.op == nullptr || fold.rows == nullptr || fold.points == nullptr) {
      return Unimplemented("PJRT-C013",
                           absl::StrCat("no kernel for reduction ", static_cast<int>(reduce.monoid),
                                        " of compute type ", type));
    }
  } else {
    PJRT_ASSIGN_OR_RETURN(fold.body, engine.CompileBody(*reduce.body));
    SetChoice(&fold, narrow);
  }
  folds_.push_back(std::move(fold));
  return absl::OkStatus();
}

// Leaves the fold to its body where there are no kernels for the choice.
void Folder::SetChoice(Fold* fold, PrimitiveType narrow) const {
  if (!fold->reduce->choice.has_value()) return;
  const LoopChoice& choice = *fold->reduce->choice;
  const int companion_size = fold->sizes[1 - choice.value];
  if (companion_size != 4 && companion_size != 8) return;
  const bool is_narrow = narrow != PRIMITIVE_TYPE_INVALID;
  const CType type = is_narrow ? CType::kF32 : p_.instrs[fold->reduce->values[choice.value]].type;
  int most = static_cast<int>(Monoid::kMaximum), least = static_cast<int>(Monoid::kMinimum);
  if (!choice.rule.greater) std::swap(most, least);
  fold->choice = &fold_kernels_.choice[static_cast<int>(type)];
  fold->rows = k_.reduce_rows[most][static_cast<int>(type)];
  fold->least_rows = k_.reduce_rows[least][static_cast<int>(type)];
  fold->value_is_float = type == CType::kF32 || type == CType::kF64;
  if (is_narrow) {
    fold->choice = narrow == BF16 ? &fold_kernels_.bf16_choice : &fold_kernels_.f16_choice;
    fold->rows = (narrow == BF16 ? fold_kernels_.bf16 : fold_kernels_.f16)[most].rows;
    fold->load = k_.load[narrow];
    fold->store = k_.store[narrow];
    fold->sizes[choice.value] = kCTypeSize[static_cast<int>(type)];
  }
  fold->take_places =
      fold_kernels_.take_places[SizeLog2(fold->sizes[choice.value])][companion_size == 8];
  if (choice.counted_by < 0) return;
  const Dims& strides = p_.iotas[choice.counted_by].strides;
  fold->rows_share_companions = std::all_of(strides.begin(), strides.begin() + p_.num_outer,
                                            [](int64_t stride) { return stride == 0; });
}

int64_t Folder::LayOut(int64_t block) {
  block_bytes_ = AlignUp(block * kElementBytes);
  int64_t at = 0, body_bytes = 0;
  size_t most_values = 0;
  for (Fold& fold : folds_) {
    for (size_t i = 0; i < fold.sizes.size(); ++i) {
      fold.accumulators.push_back(static_cast<int>(at));
      at += block_bytes_;
    }
    if (fold.CountsCompanions()) {
      fold.places = static_cast<int>(at);
      at += block_bytes_;
    }
    most_values = std::max(most_values, fold.sizes.size());
    if (fold.body != nullptr) body_bytes = std::max(body_bytes, fold.body->scratch_bytes());
  }
  left_ = at;
  right_ = left_ + block_bytes_ * static_cast<int64_t>(most_values);
  result_ = right_ + block_bytes_ * static_cast<int64_t>(most_values);
  body_scratch_ = result_ + block_bytes_ * static_cast<int64_t>(most_values);
  return body_scratch_ + AlignUp(body_bytes);
}

int64_t Folder::CompanionOf(const Fold& fold, int64_t point) const {
  const LoopView& view = p_.iotas[fold.reduce->choice->counted_by];
  int64_t companion = view.offset;
  for (int d = static_cast<int>(p_.dims.size()) - 1; d >= 0; --d) {
    const int64_t rest = point / p_.dims[d];
    companion += (point - rest * p_.dims[d]) * view.strides[d];
    point = rest;
  }
  return companion;
}

void Folder::SetCompanion(const Fold& fold, int64_t companion, char* to) const {
  if (fold.sizes[1 - fold.value()] == 4) {
    const int32_t narrow = static_cast<int32_t>(companion);
    std::memcpy(to, &narrow, sizeof(narrow));
  } else {
    std::memcpy(to, &companion, sizeof(companion));
  }
}

void Folder::Start(char* memory, const Fold& fold, const char* const* values, int64_t n,
                   int64_t point, int64_t at) const {
  for (size_t i = 0; i < fold.sizes.size(); ++i) {
    char* const to = Accumulator(memory, fold, i) + at * fold.sizes[i];
    if (i == fold.value()) {
      fold.Load(to, values[i], n);
    } else if (fold.CountsCompanions()) {
      alignas(8) char companion[8];
      SetCompanion(fold, CompanionOf(fold, point), companion);
      k_.fill[SizeLog2(fold.sizes[i])](to, companion, n);
    } else {
      std::memcpy(to, values[i], n * fold.sizes[i]);
    }
  }
}

int64_t Folder::PlacesFrom(int64_t point, int64_t most) const {
  // Companions grow evenly along the innermost reduced dim.
  if (p_.num_reduced == 0) return 1;
  const int reduced = p_.num_outer + p_.num_reduced - 1;
  for (int d = static_cast<int>(p_.dims.size()) - 1; d > reduced; --d) point /= p_.dims[d];
  return std::min(most, p_.dims[reduced] - point % p_.dims[reduced]);
}

void Folder::ClearPlaces(char* memory, const Fold& fold, int64_t n) const {
  std::memset(memory + fold.places, 0, n * fold.sizes[fold.value()]);
}

void Folder::ChoosePlaces(char* memory, const Fold& fold, const char* values, int64_t first_place,
                          int64_t points, int64_t n, int64_t stride, int64_t at) const {
  const size_t v = fold.value();
  char* const accumulators = Accumulator(memory, fold, v) + at * fold.sizes[v];
  fold.choice->choose_places(fold.reduce->choice->rule, accumulators, memory + fold.places, values,
                             first_place, points, n, stride / fold.value_sizes[v]);
}

void Folder::TakePlaces(char* memory, const Fold& fold, int64_t n, int64_t point,
                        int64_t at) const {
  const size_t c = 1 - fold.value();
  const Dims& strides = p_.iotas[fold.reduce->choice->counted_by].strides;
  const int64_t step = p_.num_reduced == 0 ? 0 : strides[p_.num_outer + p_.num_reduced - 1];
  fold.take_places(Accumulator(memory, fold, c) + at * fold.sizes[c], memory + fold.places,
                   CompanionOf(fold, point) - step, step, n);
}

void Folder::Choose(char* memory, const Fold& fold, const char* values, int64_t points, int64_t n,
                    int64_t stride, int64_t point, int64_t at) const {
  int64_t inner = 1;
  for (size_t d = p_.num_outer + p_.num_reduced; d < p_.dims.size(); ++d) inner *= p_.dims[d];
  const int64_t most = fold.sizes[fold.value()] == 1 ? kMostPlaces : UINT16_MAX;
  for (int64_t k = 0; k < points;) {
    const int64_t from = point + k * inner, count = std::min(PlacesFrom(from, most), points - k);
    ClearPlaces(memory, fold, n);
    ChoosePlaces(memory, fold, values + k * stride, 1, count, n, stride, at);
    TakePlaces(memory, fold, n, from, at);
    k += count;
  }
}

bool Folder::CanChooseRows(const Fold& fold, int64_t rows, int64_t n) const {
  if (!fold.CountsCompanions() || !fold.rows_share_companions || p_.num_reduced != 1) return false;
  const Choice& rule = fold.reduce->choice->rule;
  if (n > kMostPlaces)
    return fold.choice->choose_long_rows != nullptr && rule.TakesFirstNan() && n <= kLongestRow;
  return (rule.TakesFirstNan() || rule.TakesSecondByNan()) && n >= 2 &&
         rows * fold.value_sizes[fold.value()] >= kLeastColumnBytes;
}

void Folder::ChooseRows(char* memory, const Fold& fold, const char* values, int64_t rows, int64_t n,
                        int64_t point, int64_t at) const {
  const size_t v = fold.value();
  const ChooseRowsFn choose =
      n > kMostPlaces ? fold.choice->choose_long_rows : fold.choice->choose_rows;
  choose(fold.reduce->choice->rule, Accumulator(memory, fold, v) + at * fold.sizes[v],
         memory + fold.places, values, rows, n);
  TakePlaces(memory, fold, rows, point, at);
}

void Folder::Accumulate(char* memory, const Fold& fold, const char* const* values, int64_t n,
                        int64_t at) const {
  const auto accumulator = [&](size_t i) {
    return Accumulator(memory, fold, i) + at * fold.sizes[i];
  };
  if (fold.body == nullptr) {
    char* acc = accumulator(0);
    fold.value_op(acc, acc, values[0], nullptr, n);
    return;
  }
  if (fold.choice != nullptr) {
    const size_t v = fold.value(), c = 1 - v;
    fold.choice->choose[fold.sizes[c] == 8](fold.reduce->choice->rule, accumulator(v),
                                            accumulator(c), values[v], values[c], n);
    return;
  }
  absl::InlinedVector<const char*, 8> params;
  Pointers results;
  for (size_t i = 0; i < fold.sizes.size(); ++i) params.push_back(accumulator(i));
  for (size_t i = 0; i < fold.sizes.size(); ++i) {
    params.push_back(values[i]);
    results.push_back(Block(memory, result_, i));
  }
  fold.body->Call(params.data(), results.data(), n, memory + body_scratch_);
  for (size_t i = 0; i < fold.sizes.size(); ++i)
    std::memcpy(accumulator(i), results[i], n * fold.sizes[i]);
}

void Folder::AccumulateFolded(char* memory, const Fold& fold, const char* const* folded,
                              int64_t at) const {
  if (fold.body != nullptr) return Accumulate(memory, fold, folded, 1, at);
  char* const accumulator = Accumulator(memory, fold, 0) + at * fold.sizes[0];
  fold.op(accumulator, accumulator, folded[0], nullptr, 1);
}

void Folder::FoldRows(char* memory, const Fold& fold, const char* const* values, int64_t rows,
                      int64_t n, char* const* out, int64_t point, int64_t follow) const {
  if (fold.body == nullptr) {
    fold.rows(out[0], values[0], rows, n);
    return;
  }
  if (fold.choice != nullptr) {
    const size_t v = fold.value(), c = 1 - v;
    const int64_t row_bytes = n * fold.value_sizes[v], asked = std::min(row_bytes, kAskedARow);
    const char* const behind = values[v] + rows * row_bytes;
    const bool asks_twice = follow > 0 && asked >= kAskedTwice && asked < kAskedARow;
    const int64_t early = asks_twice ? asked / 2 : 0;
    for (int64_t row = 0; asks_twice && row < rows; ++row) {
      if (row < follow) AskFor(behind + row * asked, early);
      fold.rows(out[v] + row * fold.sizes[v], values[v] + row * row_bytes, 1, n);
    }
    if (!asks_twice) fold.rows(out[v], values[v], rows, n);
    // Within rows that count alike, a companion follows from its place.
    const bool count_alike = fold.rows_share_companions && p_.num_reduced == 1;
    const int64_t first = count_alike ? CompanionOf(fold, point) : 0;
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t at = row * n;
      if (row < follow) AskFor(behind + row * asked + early, asked - early);
      const int64_t place =
          PlaceInRow(fold, values[v] + at * fold.value_sizes[v], n, out[v] + row * fold.sizes[v]);
      char* const to = out[c] + row * fold.sizes[c];
      if (count_alike) {
        const Dims& strides = p_.iotas[fold.reduce->choice->counted_by].strides;
        SetCompanion(fold, first + place * strides[p_.num_outer], to);
      } else if (fold.CountsCompanions()) {
        SetCompanion(fold, CompanionOf(fold, point + at + place), to);
      } else {
        std::memcpy(to, values[c] + (at + place) * fold.sizes[c], fold.sizes[c]);
      }
    }
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    absl::InlinedVector<const char*, 4> from;
    Pointers to;
    for (size_t i = 0; i < fold.sizes.size(); ++i) {
      from.push_back(values[i] + row * n * fold.sizes[i]);
      to.push_back(out[i] + row * fold.sizes[i]);
    }
    FoldPoints(memory, fold, from.data(), n, 1, to.data());
  }
}

// The place of the chosen one of n values, of which *out is the extreme one, and is made the chosen
// one.
int64_t Folder::PlaceInRow(const Fold& fold, const char* values, int64_t n, char* out) const {
  const Choice& rule = fold.reduce->choice->rule;
  const ChoiceKernels& kernels = *fold.choice;
  const int size = fold.sizes[fold.value()], value_size = fold.value_sizes[fold.value()];
  const bool is_nan = fold.value_is_float && IsNan(out, size);
  if (is_nan && !rule.TakesFirstNan()) {
    // What becomes of a NaN depends on all that comes before it.
    fold.Load(out, values, 1);
    uint64_t place = 0;
    uint32_t place_of_f32 = 0;
    kernels.choose_places(rule, out, size == 4 ? static_cast<void*>(&place_of_f32) : &place,
                          values + value_size, 1, n - 1, 1, 1);
    return static_cast<int64_t>(place | place_of_f32);
  }
  alignas(8) char what[8];
  std::memcpy(what, out, size);
  if (fold.store != nullptr) fold.store(what, out, 1);
  const auto find = [&](bool first) {
    return first ? kernels.find_first(values, what, n) : kernels.find_last(values, what, n);
  };
  // Zeros are equal and yet differ, as NaNs do.
  if (is_nan || (fold.value_is_float && IsZero(out, size)))
    fold.Load(out, values + find(is_nan || rule.first_of_equal_values) * value_size, 1);
  return find(is_nan || rule.first_of_equal_companions);
}

void Folder::FoldPoints(char* memory, const Fold& fold, const char* const* values, int64_t n,
                        int64_t inner, char* const* out) const {
  const size_t count = fold.sizes.size();
  absl::InlinedVector<const char*, 8> params(2 * count);
  Pointers results(count);
  absl::InlinedVector<const char*, 4> from(values, values + count);
  for (size_t i = 0; i < count; ++i) {
    params[i] = Block(memory, left_, i);
    params[count + i] = Block(memory, right_, i);
    results[i] = Block(memory, result_, i);
  }
  while (n > 1) {
    const int64_t half = n / 2;
    for (size_t i = 0; i < count; ++i) {
      const int64_t point = fold.sizes[i] * inner;
      char *left = Block(memory, left_, i), *right = Block(memory, right_, i);
      if (inner == 1) {
        k_.gather_stride[SizeLog2(fold.sizes[i])](left, from[i], 2, half);
        k_.gather_stride[SizeLog2(fold.sizes[i])](right, from[i] + point, 2, half);
        continue;
      }
      for (int64_t j = 0; j < half; ++j) {
        std::memcpy(left + j * point, from[i] + 2 * j * point, point);
        std::memcpy(right + j * point, from[i] + (2 * j + 1) * point, point);
      }
    }
    // The odd one out moves along; its place in `results` is behind the half that the call writes.
    for (size_t i = 0; i < count && n % 2 != 0; ++i) {
      const int64_t point = fold.sizes[i] * inner;
      std::memcpy(results[i] + half * point, from[i] + (n - 1) * point, point);
    }
    fold.body->Call(params.data(), results.data(), half * inner, memory + body_scratch_);
    for (size_t i = 0; i < count; ++i) from[i] = results[i];
    n = half + n % 2;
  }
  for (size_t i = 0; i < count; ++i) std::memcpy(out[i], from[i], fold.sizes[i] * inner);
}

// n copies of the i-th initial value.
void Folder::FillInit(const char* const* inputs, const Fold& fold, size_t i, char* block,
                      int64_t n) const {
  const int32_t input = fold.reduce->init_inputs[i];
  const LoopInput& init = p_.inputs[input];
  const char* source = inputs[input] + init.view.offset * ByteWidth(init.type);
  alignas(16) char one[16];
  if (ConvertFn load = k_.load[init.type]; load != nullptr) {
    load(one, source, 1);
    source = one;
  }
  k_.fill[SizeLog2(fold.sizes[i])](block, source, n);
}

// Whether each of n accumulators of a choice is chosen before the initial value, because of its
// value alone.
bool Folder::InitLoses(char* memory, const char* const* inputs, const Fold& fold, int64_t n) const {
  if (fold.choice == nullptr || !fold.reduce->choice->by_values || n == 0) return false;
  alignas(16) char init[kElementBytes], least[kElementBytes];
  FillInit(inputs, fold, fold.value(), init, 1);
  fold.least_rows(least, Accumulator(memory, fold, fold.value()), 1, n);
  Choice rule;  // the initial value among equal ones and NaNs
  rule.greater = fold.reduce->choice->rule.greater;
  rule.first_if_first_nan = rule.first_if_second_nan = rule.first_if_both_nan = true;
  uint32_t loser = 0, winner = 1;
  fold.choice->choose[0](rule, init, &loser, least, &winner, 1);
  return loser == 1;
}

void Folder::Begin(char* memory, const char* const* inputs, const Fold& fold, int64_t n) const {
  for (size_t i = 0; fold.BeginsWithInit() && i < fold.sizes.size(); ++i)
    FillInit(inputs, fold, i, Accumulator(memory, fold, i), n);
}

void Folder::Finish(char* memory, const char* const* inputs, const Fold& fold, int64_t n) const {
  if (!fold.HasInit() || InitLoses(memory, inputs, fold, n)) return;
  const size_t count = fold.sizes.size();
  absl::InlinedVector<const char*, 8> params(2 * count);
  Pointers results(count);
  for (size_t i = 0; i < count; ++i) {
    FillInit(inputs, fold, i, Block(memory, left_, i), n);
    params[i] = Block(memory, left_, i);
    params[count + i] = Accumulator(memory, fold, i);
    results[i] = Block(memory, result_, i);
  }
  if (fold.body == nullptr) {
    fold.op(results[0], params[0], params[1], nullptr, n);
  } else {
    for (int64_t done = 0; done < n;) {
      const int64_t piece = std::min(n - done, fold.body->max_block());
      fold.body->Call(params.data(), results.data(), piece, memory + body_scratch_);
      for (size_t i = 0; i < count; ++i) {
        params[i] += piece * fold.sizes[i];
        params[count + i] += piece * fold.sizes[i];
        results[i] += piece * fold.sizes[i];
      }
      done += piece;
    }
  }
  for (size_t i = 0; i < count; ++i)
    std::memcpy(Accumulator(memory, fold, i), Block(memory, result_, i), n * fold.sizes[i]);
}

}  // namespace pjrt::cpu

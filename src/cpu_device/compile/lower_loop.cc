// SPDX-License-Identifier: Apache-2.0
//
// A unit of elementwise ops and reductions as one loop program, or two when a reduction has few
// results and much to reduce.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/constants.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/compile/match_choice.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

using ir::OpCode;

// A reduction to fewer results than kFewResults of more than kLongReduction elements is split in
// two, so that threads can share it and rounding errors stay small.
constexpr int64_t kFewResults = 64;
constexpr int64_t kLongReduction = 64 * 1024;
// So is one of more than kLongColumns elements to columns that make fewer units of work than
// kFewUnits: in at most kMostChunks chunks of at least kChunkElements elements, each of so many
// reduced points that partial results are few.
constexpr int64_t kLongColumns = 256 * 1024;
constexpr int64_t kReduceUnitColumns = 1024;
constexpr int64_t kFewUnits = 16;
constexpr int64_t kMostChunks = 16;
constexpr int64_t kChunkElements = 32 * 1024;
constexpr int64_t kChunkPoints = 64;

int64_t Product(absl::Span<const int64_t> dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

// Orders the dims: kept ones before the last reduced one, reduced ones, kept ones behind it.
void OrderDims(LoopProgram* program, absl::Span<const int64_t> reduced) {
  const int rank = static_cast<int>(program->dims.size());
  program->num_outer = rank;
  if (reduced.empty()) return;
  const int64_t last = *std::max_element(reduced.begin(), reduced.end());
  const auto is_reduced = [&](int d) {
    return std::find(reduced.begin(), reduced.end(), d) != reduced.end();
  };
  absl::InlinedVector<int, 6> order;
  for (int d = 0; d < last; ++d) {
    if (!is_reduced(d)) order.push_back(d);
  }
  program->num_outer = static_cast<int>(order.size());
  for (int d = 0; d < rank; ++d) {
    if (is_reduced(d)) order.push_back(d);
  }
  program->num_reduced = static_cast<int>(reduced.size());
  for (int d = static_cast<int>(last) + 1; d < rank; ++d) order.push_back(d);
  const auto permute = [&](Dims* dims) {
    const Dims from = *dims;
    for (int d = 0; d < rank; ++d) (*dims)[d] = from[order[d]];
  };
  permute(&program->dims);
  ForEachView(program, [&](LoopView* view) { permute(&view->strides); });
}

// A reduced dim, and in how many chunks it is worth cutting; 1 if it is not. Each place of the
// `whole` first reduced dims, which lie before it, is a chunk of its own then.
struct Cut {
  int dim = 0;
  int64_t chunks = 1;
  int whole = 0;
};

// The first reduced dim of a reduction to few results.
Cut CutOfFewResults(const LoopProgram& program) {
  Cut cut{program.num_outer};
  const int64_t size = program.dims[cut.dim];
  const int64_t rest = Product(absl::MakeSpan(program.dims).subspan(cut.dim + 1));
  if (rest >= 1024 && size >= 8) {
    cut.chunks = size;
    return cut;
  }
  for (int64_t c = 8; c <= 4096 && size / c * rest >= 2048; ++c) {
    if (size % c == 0) cut.chunks = c;
    if (cut.chunks > 1 && size / c * rest <= 32 * 1024) break;
  }
  return cut;
}

// Of a reduction to columns: where chunks are runs of reduced points, or else, where that gives
// more of them, the first reduced dim that alone gives units enough or the one that gives the most.
// Only sizes count: the same points are added up in the same order whatever is computed beside.
Cut CutOfColumns(const LoopProgram& program) {
  const int first = program.num_outer, end = first + program.num_reduced;
  const int64_t points = Product(absl::MakeSpan(program.dims).subspan(first, program.num_reduced));
  const int64_t inner = Product(absl::MakeSpan(program.dims).subspan(end));
  const auto is_worth = [&](int64_t chunks) {
    return chunks <= kMostChunks && points / chunks >= kChunkPoints &&
           points / chunks * inner >= kChunkElements;
  };
  Cut runs, best;
  int64_t num_runs = 1;
  for (int64_t d = first, before = 1; d < end && is_worth(before); before *= program.dims[d++]) {
    for (int64_t c = 2; is_worth(before * c); ++c) {
      if (program.dims[d] % c != 0 || before * c <= num_runs) continue;
      runs = {static_cast<int>(d), c, static_cast<int>(d) - first};
      num_runs = before * c;
    }
  }
  for (int d = first; d < end && best.chunks < kFewUnits; ++d) {
    for (int64_t c = 2; is_worth(c); ++c) {
      if (program.dims[d] % c == 0 && c > best.chunks) best = {d, c};
    }
  }
  return num_runs >= best.chunks ? runs : best;
}

// Where a reduction is cut so that several threads have something to do.
Cut CutOfReduction(const LoopProgram& program) {
  if (program.reduces.empty()) return {};
  const int64_t elements = Product(program.dims);
  const absl::Span<const int64_t> dims = program.dims;
  const int64_t outer = Product(dims.first(program.num_outer));
  const int64_t inner = Product(dims.subspan(program.num_outer + program.num_reduced));
  if (outer * inner < kFewResults)
    return elements < kLongReduction ? Cut{} : CutOfFewResults(program);
  const bool is_cut = inner > 1 && elements >= kLongColumns &&
                      outer * CeilDiv(inner, kReduceUnitColumns) < kFewUnits;
  return is_cut ? CutOfColumns(program) : Cut{};
}

// [R] becomes [c][R / c]; c, behind the whole dims, is one of the first outer dims.
void CutReducedDim(LoopProgram* program, const Cut& cut) {
  const int64_t size = program->dims[cut.dim] / cut.chunks;
  const auto cut_list = [&](Dims* list, int64_t chunk, int64_t rest) {
    const auto whole = list->begin() + program->num_outer;
    (*list)[cut.dim] = rest;
    std::rotate(list->begin(), whole, whole + cut.whole);
    list->insert(list->begin() + cut.whole, chunk);
  };
  cut_list(&program->dims, cut.chunks, size);
  ForEachView(program, [&](LoopView* view) {
    const int64_t stride = view->strides[cut.dim];
    cut_list(&view->strides, stride * size, stride);
  });
  program->num_outer += cut.whole + 1;
  program->num_reduced -= cut.whole;
}

// True for a large array whose neighbours in the loop's order lie far apart in memory, while those
// along another dim are neighbours there: turning it first, tile by tile, costs less than loading
// it element by element.
bool IsTurned(const ArrayView& view) {
  constexpr int64_t kMinElements = 4096, kMinNeighbours = 8;
  if (view.kind != ArrayView::kBuffer || view.ElementCount() < kMinElements) return false;
  int inner = static_cast<int>(view.dims.size()) - 1;
  while (inner > 0 && view.dims[inner] == 1) --inner;
  const int64_t stride = view.strides[inner];
  if (stride == 0 || std::abs(stride) * ByteWidth(view.type) < 64) return false;
  for (int d = 0; d < inner; ++d) {
    if (view.dims[d] >= kMinNeighbours && view.strides[d] == 1) return true;
  }
  return false;
}

// True for what outer dims repeat and neighbours in the loop's order lie apart in: loads would
// bring them together again for each repetition.
bool IsRepeatedApart(const ArrayView& view) {
  constexpr int64_t kMinElements = 4096, kMinNeighbours = 16, kMinRepetitions = 8;
  if (view.kind != ArrayView::kBuffer || view.ElementCount() < kMinElements) return false;
  int inner = static_cast<int>(view.dims.size()) - 1;
  while (inner > 0 && view.dims[inner] == 1) --inner;
  if (view.dims[inner] < kMinNeighbours || view.strides[inner] == 0 || view.strides[inner] == 1)
    return false;
  int64_t repetitions = 1;
  for (int d = 0; d < inner; ++d) {
    if (view.strides[d] == 0) repetitions *= view.dims[d];
  }
  return repetitions >= kMinRepetitions;
}

}  // namespace

PrimitiveType MemoryType(CType type) {
  static constexpr PrimitiveType kTypes[kNumCTypes] = {PRED, S8,  U8,  S16, U16, S32, U32,
                                                       S64,  U64, F32, F64, C64, C128};
  return kTypes[static_cast<int>(type)];
}

absl::Status Lowering::LowerLoop(const Unit& unit, Steps* steps) {
  const ir::Op& first = *unit.ops[0];
  const absl::Span<const int64_t> dims =
      first.Is(OpCode::kReduce) ? first.operand_type(0).dims() : first.result_type().dims();
  LoopBuilder builder(dims, options_.keep_f32);
  LoopProgram& program = builder.program();
  absl::flat_hash_map<const ir::Value*, LoopValue> values;
  absl::flat_hash_set<const ir::Op*> members(unit.ops.begin(), unit.ops.end());
  std::vector<BufferId> store_buffers, reduce_buffers;
  absl::InlinedVector<int64_t, 6> reduced;
  std::string what;

  const auto value_of = [&](const ir::Value* value) -> absl::StatusOr<LoopValue> {
    auto it = values.find(value);
    if (it != values.end()) return it->second;
    ArrayView once = view(value);
    const bool is_repeated = IsRepeatedApart(once);
    if (!is_repeated && !IsTurned(once)) return builder.Load(once);
    for (size_t d = 0; is_repeated && d < once.dims.size(); ++d) {
      if (once.strides[d] == 0) once.dims[d] = 1;
    }
    PJRT_ASSIGN_OR_RETURN(ArrayView dense, Dense(once, steps));
    for (size_t d = 0; d < dense.dims.size(); ++d) {
      if (dense.dims[d] == view(value).dims[d]) continue;
      dense.dims[d] = view(value).dims[d];
      dense.strides[d] = 0;
    }
    return values[value] = builder.Load(dense);
  };
  for (const ir::Op* op : unit.ops) {
    if (what.size() < 60)
      absl::StrAppend(&what, what.empty() ? "" : " ", op->name().substr(op->name().find('.') + 1));
    if (op->Is(OpCode::kReduce)) {
      const size_t n = op->num_operands() / 2;
      LoopReduce reduce;
      const ir::Block& body = *op->region()->block();
      if (std::optional<Monoid> monoid = n == 1 ? MatchMonoid(body) : std::nullopt) {
        reduce.monoid = *monoid;
      } else {
        reduce.has_monoid = false;
        PJRT_ASSIGN_OR_RETURN(reduce.body, Body(body, options_.keep_f32));
      }
      reduced = op->IntsAttr("dimensions");
      for (size_t i = 0; i < n; ++i) {
        // Counted companions of a choice are recognised as such.
        const std::optional<ArrayView> iota = n == 2 ? IotaConstant(*op->operand(i)) : std::nullopt;
        if (iota.has_value()) {
          reduce.values.push_back(builder.Load(*iota));
        } else {
          PJRT_ASSIGN_OR_RETURN(const LoopValue value, value_of(op->operand(i)));
          reduce.values.push_back(value);
        }
        ArrayView init = view(op->operand(n + i));
        if (init.kind != ArrayView::kBuffer) {
          PJRT_ASSIGN_OR_RETURN(init, ScalarInBuffer(init, steps));
        }
        reduce.init_inputs.push_back(builder.AddInput(init));
        const ArrayView out = NewArray(op->result_type(i));
        LoopReduce::Output output;
        output.type = out.type;
        output.is_read = op->result(i)->first_use() != nullptr;
        output.view.strides.assign(dims.size(), 0);
        size_t k = 0;
        for (size_t d = 0; d < dims.size(); ++d) {
          if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) == reduced.end())
            output.view.strides[d] = out.strides[k++];
        }
        reduce.outputs.push_back(std::move(output));
        reduce_buffers.push_back(out.buffer);
        Bind(op->result(i), out);
      }
      program.reduces.push_back(std::move(reduce));
      continue;
    }
    const size_t known = program.instrs.size();
    LoopValue value;
    if (op->Is(OpCode::kGather)) {
      ArrayView list = view(op->operand(0));
      if (list.kind != ArrayView::kBuffer) {
        PJRT_ASSIGN_OR_RETURN(list, Dense(list, steps));
      }
      PJRT_ASSIGN_OR_RETURN(const LoopValue index, value_of(op->operand(1)));
      value = builder.Gather(list, index, op->operand_type(1).primitive_type());
    } else {
      std::vector<LoopValue> operands;
      for (size_t i = 0; i < op->num_operands(); ++i) {
        PJRT_ASSIGN_OR_RETURN(const LoopValue operand, value_of(op->operand(i)));
        operands.push_back(operand);
      }
      PJRT_ASSIGN_OR_RETURN(value, builder.Emit(*op, operands));
    }
    if (!HasKernels(program, known, *kernels_.block))
      return UnsupportedOp(*op, "there is no kernel for it on these types");
    values[op->result()] = value;
    bool used_outside = false;
    for (ir::Use* use = op->result()->first_use(); use != nullptr; use = use->next())
      used_outside |= !members.contains(use->owner());
    if (!used_outside) continue;
    const ArrayView out = PlaceFor(op->result());
    LoopStore store;
    store.value = value;
    store.type = out.type;
    store.view.offset = out.offset;
    store.view.strides = out.strides;
    program.stores.push_back(std::move(store));
    store_buffers.push_back(out.buffer);
    NoteIfPackedResult(op->result(), out.buffer, members);
    Bind(op->result(), out);
  }
  OrderDims(&program, reduced);
  for (LoopReduce& reduce : program.reduces) {
    if (!reduce.has_monoid) reduce.choice = MatchChoice(program, reduce);
  }
  if (program.stores.empty() && program.reduces.empty()) return absl::OkStatus();
  std::vector<BufferId> inputs = builder.input_buffers();
  const Cut cut = CutOfReduction(program);
  if (cut.chunks == 1) {
    std::vector<BufferId> outputs = store_buffers;
    outputs.insert(outputs.end(), reduce_buffers.begin(), reduce_buffers.end());
    return EmitLoop(std::move(program), std::move(inputs), std::move(outputs), std::move(what),
                    steps);
  }
  CutReducedDim(&program, cut);
  return EmitSplitReduction(std::move(program), cut.whole + 1, std::move(inputs),
                            std::move(store_buffers), std::move(reduce_buffers), std::move(what),
                            steps);
}

// `program` has the chunks of the reduction as its first `chunk_dims` dims. The first loop leaves a
// partial result a chunk, the second reduces those.
absl::Status Lowering::EmitSplitReduction(LoopProgram program, int chunk_dims,
                                          std::vector<BufferId> inputs,
                                          std::vector<BufferId> stores,
                                          std::vector<BufferId> results, std::string what,
                                          Steps* steps) {
  // The dims that partial results have: the chunks, outer ones, then inner ones.
  Dims kept(program.dims.begin(), program.dims.begin() + program.num_outer);
  kept.insert(kept.end(), program.dims.begin() + program.num_outer + program.num_reduced,
              program.dims.end());
  LoopBuilder second(kept, options_.keep_f32);
  second.program().num_outer = 0;
  second.program().num_reduced = chunk_dims;
  std::vector<BufferId> first_outputs = std::move(stores);
  for (LoopReduce& reduce : program.reduces) {
    LoopReduce rest;
    rest.has_monoid = reduce.has_monoid;
    rest.monoid = reduce.monoid;
    rest.body = reduce.body;
    rest.choice = reduce.choice;
    for (size_t i = 0; i < reduce.values.size(); ++i) {
      const ArrayView partial = NewArray(MemoryType(program.instrs[reduce.values[i]].type), kept);
      first_outputs.push_back(partial.buffer);
      const LoopView final_view = reduce.outputs[i].view;
      const PrimitiveType final_type = reduce.outputs[i].type;
      const bool is_read = reduce.outputs[i].is_read;
      // The first loop's output: as `partial`, with stride 0 where it reduces.
      LoopReduce::Output& output = reduce.outputs[i];
      output.type = partial.type;
      output.is_read = true;
      output.view.offset = 0;
      output.view.strides.assign(partial.strides.begin(),
                                 partial.strides.begin() + program.num_outer);
      output.view.strides.insert(output.view.strides.end(), program.num_reduced, 0);
      output.view.strides.insert(output.view.strides.end(),
                                 partial.strides.begin() + program.num_outer,
                                 partial.strides.end());
      rest.values.push_back(second.Load(partial));
      ArrayView init;
      init.type = program.inputs[reduce.init_inputs[i]].type;
      init.buffer = inputs[reduce.init_inputs[i]];
      init.offset = program.inputs[reduce.init_inputs[i]].view.offset;
      rest.init_inputs.push_back(second.AddInput(init));
      LoopReduce::Output last;
      last.type = final_type;
      last.is_read = is_read;
      last.view.offset = final_view.offset;
      last.view.strides.assign(final_view.strides.begin(),
                               final_view.strides.begin() + program.num_outer);
      last.view.strides.insert(last.view.strides.end(),
                               final_view.strides.begin() + program.num_outer + program.num_reduced,
                               final_view.strides.end());
      rest.outputs.push_back(std::move(last));
    }
    reduce.init_inputs.clear();
    second.program().reduces.push_back(std::move(rest));
  }
  PJRT_RETURN_IF_ERROR(EmitLoop(std::move(program), std::move(inputs), std::move(first_outputs),
                                absl::StrCat(what, " (partial)"), steps));
  return EmitLoop(std::move(second.program()), second.input_buffers(), std::move(results),
                  absl::StrCat(what, " (rest)"), steps);
}

}  // namespace pjrt::cpu

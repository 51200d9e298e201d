// SPDX-License-Identifier: Apache-2.0
//
// dot, einsum and unary_einsum as dot_general, and one that sums nothing as a multiplication.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "src/core/passes/decompose_ops.h"

namespace pjrt::ir {
namespace {

// A letter for each dimension. Those that "..." stands for get letters of their own, the last
// dimension the same one in each operand.
using Letters = std::string;
constexpr char kFirstEllipsisLetter = '\x01';

bool IsEllipsisLetter(char letter) { return letter < ' '; }

// The letters of one operand with `rank` dimensions, or of the result, for whose "..." there are
// `rank` dimensions less its other letters. nullopt when they do not fit.
std::optional<Letters> ReadLetters(absl::string_view text, int64_t rank) {
  Letters letters;
  const size_t dots = text.find("...");
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == dots) {
      const int64_t hidden = rank - (static_cast<int64_t>(text.size()) - 3);
      if (hidden < 0 || hidden > 30) return std::nullopt;
      for (int64_t h = hidden; h-- > 0;)
        letters.push_back(static_cast<char>(kFirstEllipsisLetter + h));
      i += 2;
    } else if (text[i] == '.' || IsEllipsisLetter(text[i])) {
      return std::nullopt;
    } else {
      letters.push_back(text[i]);
    }
  }
  if (static_cast<int64_t>(letters.size()) != rank) return std::nullopt;
  return letters;
}

bool Has(const Letters& letters, char letter) { return letters.find(letter) != Letters::npos; }
int64_t PlaceOf(const Letters& letters, char letter) {
  return static_cast<int64_t>(letters.find(letter));
}

struct Operand {
  Term x;
  Letters letters;
};

// x[i, i, ...] as y[i, ...] for the two first dimensions of the same letter.
void TakeDiagonal(Operand* operand, size_t first, size_t second) {
  Emitter& emit = operand->x.emitter();
  Context& context = emit.context();
  const Type type = operand->x.type();
  const int64_t size = type.dims()[first];
  GatherDimensionNumbers numbers;
  DimList slice_sizes, dims = {size};
  Letters letters(1, operand->letters[first]);
  for (size_t d = 0; d < operand->letters.size(); ++d) {
    const bool diagonal = d == first || d == second;
    slice_sizes.push_back(diagonal ? 1 : type.dims()[d]);
    if (diagonal) continue;
    numbers.offset_dims.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(type.dims()[d]);
    letters.push_back(operand->letters[d]);
  }
  numbers.collapsed_slice_dims = {static_cast<int64_t>(first), static_cast<int64_t>(second)};
  numbers.start_index_map = numbers.collapsed_slice_dims;
  numbers.index_vector_dim = 1;
  const Term index = emit.Iota(context.Tensor({size, 2}, S64), 0);
  operand->x = emit.Make1("stablehlo.gather", {operand->x, index}, WithDims(context, type, dims),
                          {{"dimension_numbers", numbers.ToAttr(context)},
                           {"slice_sizes", context.I64Array(slice_sizes)}});
  operand->letters = letters;
}

void TakeDiagonals(Operand* operand) {
  for (size_t d = 0; d < operand->letters.size(); ++d) {
    const size_t second = operand->letters.find(operand->letters[d], d + 1);
    if (second == Letters::npos) continue;
    TakeDiagonal(operand, d, second);
    d = static_cast<size_t>(-1);  // once more from the first
  }
}

// Sums over the letters for which `drop` holds.
template <typename Drop>
void SumAway(Operand* operand, Drop drop) {
  DimList dims;
  Letters letters;
  for (size_t d = 0; d < operand->letters.size(); ++d) {
    if (drop(operand->letters[d])) {
      dims.push_back(static_cast<int64_t>(d));
    } else {
      letters.push_back(operand->letters[d]);
    }
  }
  operand->x = Sum(operand->x, dims);
  operand->letters = letters;
}

// Repeats dimensions of size 1 that "..." stands for where the other operand has more.
void Stretch(Operand* operand, const Operand& other) {
  const Type type = operand->x.type();
  DimList shape, dims;
  for (size_t d = 0; d < operand->letters.size(); ++d) {
    const char letter = operand->letters[d];
    const bool shared = IsEllipsisLetter(letter) && Has(other.letters, letter);
    const int64_t size = type.dims()[d];
    shape.push_back(shared && size == 1 ? other.x.type().dim(PlaceOf(other.letters, letter))
                                        : size);
    dims.push_back(static_cast<int64_t>(d));
  }
  operand->x = Broadcast(operand->x, shape, dims);
}

// One product over the letters that both have.
Operand Multiply(const Operand& a, const Operand& b, const Letters& result, Type element) {
  Emitter& emit = a.x.emitter();
  DotDimensionNumbers numbers;
  Letters batch, free;
  DimList batch_dims, free_dims;
  for (size_t d = 0; d < a.letters.size(); ++d) {
    const char letter = a.letters[d];
    const int64_t here = static_cast<int64_t>(d), there = PlaceOf(b.letters, letter);
    if (!Has(b.letters, letter)) {
      free.push_back(letter);
      free_dims.push_back(a.x.type().dim(here));
    } else if (Has(result, letter)) {
      numbers.lhs_batching_dimensions.push_back(here);
      numbers.rhs_batching_dimensions.push_back(there);
      batch.push_back(letter);
      batch_dims.push_back(a.x.type().dim(here));
    } else {
      numbers.lhs_contracting_dimensions.push_back(here);
      numbers.rhs_contracting_dimensions.push_back(there);
    }
  }
  for (size_t d = 0; d < b.letters.size(); ++d) {
    if (Has(a.letters, b.letters[d])) continue;
    free.push_back(b.letters[d]);
    free_dims.push_back(b.x.type().dims()[d]);
  }
  DimList dims = batch_dims;
  dims.insert(dims.end(), free_dims.begin(), free_dims.end());
  Context& context = emit.context();
  return {emit.Make1("stablehlo.dot_general", {a.x, b.x}, context.Tensor(dims, element),
                     {{"dot_dimension_numbers", numbers.ToAttr(context)}}),
          batch + free};
}

bool SizesAgree(const Operand& a, const Operand& b) {
  for (size_t d = 0; d < a.letters.size(); ++d) {
    for (size_t e = 0; e < b.letters.size(); ++e) {
      if (a.letters[d] == b.letters[e] && a.x.type().dims()[d] != b.x.type().dims()[e])
        return false;
    }
  }
  return true;
}

// A result of such long rows, or of so few elements, is as well multiplied as computed as a product
// of matrices.
constexpr int64_t kLongRow = 512, kFewElements = 64;

}  // namespace

bool DecomposeDot(Emitter& emit, Op* op) {
  Context& context = emit.context();
  DotDimensionNumbers numbers;
  numbers.lhs_contracting_dimensions = {op->operand_type(0).rank() - 1};
  numbers.rhs_contracting_dimensions = {0};
  std::vector<NamedAttribute> attributes(op->attributes().begin(), op->attributes().end());
  attributes.push_back({"dot_dimension_numbers", numbers.ToAttr(context)});
  Op* dot = emit.Make("stablehlo.dot_general", {op->operand(0), op->operand(1)},
                      {op->result_type()}, attributes);
  op->result()->ReplaceAllUsesWith(dot->result());
  return true;
}

// Whether all numbers of one type are numbers of the other.
bool ConvertsExactly(PrimitiveType from, PrimitiveType to) {
  if (from == to) return IsFloating(to) || IsInteger(to) || IsComplex(to);
  if (BitWidth(from) >= BitWidth(to)) return false;
  if (IsFloating(from)) return to == F32 || to == F64;
  return IsInteger(from) && IsInteger(to) && (IsUnsignedInteger(from) || IsSignedInteger(to));
}

bool DecomposeOuterProduct(Emitter& emit, Op* op) {
  const Type a = op->operand_type(0), b = op->operand_type(1), result = op->result_type();
  const PrimitiveType type = result.primitive_type();
  if (!ConvertsExactly(a.primitive_type(), type) || !ConvertsExactly(b.primitive_type(), type))
    return false;
  const std::optional<DotDimensionNumbers> numbers =
      DotDimensionNumbers::From(op->attr("dot_dimension_numbers"));
  if (!numbers) return false;
  for (int64_t d : numbers->lhs_contracting_dimensions) {
    if (a.dim(d) != 1) return false;
  }
  int64_t batch = 1, left = 1, right = 1;
  for (int64_t d : numbers->lhs_batching_dimensions) batch *= a.dim(d);
  for (int64_t size : a.dims()) left *= size;
  for (int64_t size : b.dims()) right *= size;
  if (batch == 0 || left == 0 || right == 0) return false;
  left /= batch;
  right /= batch;
  const bool is_elementwise = left * right == 1 || (batch == 1 && std::min(left, right) == 1);
  const int64_t row = right > 1 ? right : left;
  // Matrices of narrow integers take the way by wider ones and back; those of complex numbers are
  // multiplied in their own type, single ones in a wider one.
  const bool is_quick = IsInteger(type) && BitWidth(type) < 32 ? true
                        : IsComplex(type)                      ? false
                                                               : row >= kLongRow;
  if (!is_elementwise && !is_quick && batch * left * right > kFewElements) return false;
  const auto factor = [&](size_t operand, const DimList& batched, const DimList& contracted,
                          bool is_second) {
    DimList order = batched, dims, places;
    const Term x = Convert(emit(op->operand(operand)), type);
    const int64_t rank = x.type().rank();
    for (int64_t d = 0; d < rank; ++d) {
      if (!absl::c_linear_search(batched, d) && !absl::c_linear_search(contracted, d))
        order.push_back(d);
    }
    const int64_t kept = static_cast<int64_t>(order.size()),
                  shared = static_cast<int64_t>(batched.size());
    for (int64_t i = 0; i < kept; ++i) {
      dims.push_back(x.type().dim(order[static_cast<size_t>(i)]));
      places.push_back(i < shared || !is_second ? i : result.rank() - kept + i);
    }
    order.insert(order.end(), contracted.begin(), contracted.end());
    return Broadcast(Reshape(Transpose(x, order), dims), result.dims(), places);
  };
  const Term x = factor(0, numbers->lhs_batching_dimensions, numbers->lhs_contracting_dimensions,
                        /*is_second=*/false);
  const Term y = factor(1, numbers->rhs_batching_dimensions, numbers->rhs_contracting_dimensions,
                        /*is_second=*/true);
  // The sum of a product of -0 is 0.
  const Term product = IsInteger(type) ? x * y : x * y + 0.0;
  op->result()->ReplaceAllUsesWith(product.value());
  return true;
}

bool DecomposeEinsum(Emitter& emit, Op* op) {
  std::string config(op->StringAttr("einsum_config"));
  config.erase(std::remove(config.begin(), config.end(), ' '), config.end());
  const std::vector<std::string> sides = absl::StrSplit(config, "->");
  if (sides.size() != 2) return false;
  const std::vector<std::string> texts = absl::StrSplit(sides[0], ',');
  if (texts.size() != op->num_operands()) return false;
  const std::optional<Letters> result = ReadLetters(sides[1], op->result_type().rank());
  if (!result) return false;
  std::vector<Operand> operands;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::optional<Letters> letters = ReadLetters(texts[i], op->operand_type(i).rank());
    if (!letters) return false;
    operands.push_back({emit(op->operand(i)), *letters});
    if (!SizesAgree(operands.back(), operands.back())) return false;
  }
  for (size_t d = 0; d < result->size(); ++d) {
    const char letter = (*result)[d];
    if (result->find(letter, d + 1) != Letters::npos) return false;
    const bool known = std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
      return Has(operand.letters, letter);
    });
    if (!known) return false;
  }

  const Type element = op->result_type().element_type();
  for (Operand& operand : operands) TakeDiagonals(&operand);
  Operand product = operands[0];
  if (operands.size() == 2) {
    Operand &a = operands[0], &b = operands[1];
    Stretch(&a, b);
    Stretch(&b, a);
    if (!SizesAgree(a, b)) return false;
    // Letters of one operand alone are summed before, in the type of the result.
    for (auto [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      const Letters& elsewhere = other->letters;
      const auto lonely = [&](char letter) {
        return !Has(elsewhere, letter) && !Has(*result, letter);
      };
      if (!std::any_of(one->letters.begin(), one->letters.end(), lonely)) continue;
      one->x = Convert(one->x, element.primitive_type());
      SumAway(one, lonely);
    }
    product = Multiply(a, b, *result, element);
  } else {
    const auto dropped = [&](char letter) { return !Has(*result, letter); };
    SumAway(&product, dropped);
  }
  DimList permutation;
  for (char letter : *result) permutation.push_back(PlaceOf(product.letters, letter));
  product.x = Transpose(product.x, permutation);
  if (product.x.type() != op->result_type()) return false;
  op->result()->ReplaceAllUsesWith(product.x.value());
  return true;
}

}  // namespace pjrt::ir

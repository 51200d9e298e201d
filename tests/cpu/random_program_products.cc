// SPDX-License-Identifier: Apache-2.0
//
// Sums of products: dot_general and convolution, of whole numbers so small that no order of summing
// rounds.
#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cpu/random_program.h"

namespace pjrt::cpu {
namespace {

// Adds the product of element i of x and element k of y to `sum`, of one element.
void AddProduct(Tensor* sum, const Tensor& x, int64_t i, const Tensor& y, int64_t k) {
  Tensor product{sum->type, {}, {}};
  product.Take(x, i);
  Combine("multiply", &product, 0, y, k);
  Combine("add", sum, 0, product, 0);
}

Tensor Zero(PrimitiveType type) {
  Tensor zero{type, {}, {0}};
  if (IsComplex(type)) zero.imag = {0};
  return zero;
}

// How many products of small numbers sum up exactly.
int64_t MostTerms(PrimitiveType type) { return type == BF16 ? 8 : type == F16 ? 60 : 1 << 16; }

}  // namespace

bool RandomProgram::IsSmall(const Tensor& t) {
  if (!IsFloating(t.type) && !IsComplex(t.type)) return true;
  for (const std::vector<double>* part : {&t.data, &t.imag}) {
    for (double v : *part) {
      if (!(std::fabs(v) <= 8) || v != std::floor(v) || (v == 0 && std::signbit(v))) return false;
    }
  }
  return true;
}

// iota mod 4, and of complex numbers times 1 + i.
RandomProgram::Id RandomProgram::SmallNumbers(PrimitiveType type,
                                              const std::vector<int64_t>& dims) {
  const int64_t dim = dims.empty() ? 0 : Below(static_cast<int>(dims.size()));
  const Tensor ints{S32, dims, {}};
  if (dims.empty()) return ConvertTo(Constant(Tensor{S32, {}, {3}}), type);
  Id id = Add(absl::StrCat("stablehlo.iota dim = ", dim, " : ", ints.TypeText()),
              [ints, dim](const auto&) {
                Tensor t = ints;
                for (int64_t i = 0, count = Product(t.dims); i < count; ++i)
                  t.data.push_back(static_cast<double>(Coordinates(i, t.dims)[dim]));
                return t;
              });
  const Id mask = Constant(Tensor{S32, dims, std::vector<double>(Product(dims), 3)});
  id = AddOp("and", {id, mask}, "",
             absl::StrCat("(", ints.TypeText(), ", ", ints.TypeText(), ") -> ", ints.TypeText()),
             [id, mask](const auto& env) {
               Tensor t = env[id];
               for (int64_t i = 0; i < t.count(); ++i) Combine("and", &t, i, env[mask], i);
               return t;
             });
  if (!IsComplex(type)) return type == S32 ? id : ConvertTo(id, type);
  const Id part = ConvertTo(id, type == C64 ? F32 : F64);
  const std::string text = at(part).TypeText();
  return AddOp("complex", {part, part}, "",
               absl::StrCat("(", text, ", ", text, ") -> ", Tensor{type, dims, {}}.TypeText()),
               [part, type](const auto& env) {
                 return Tensor{type, env[part].dims, env[part].data, env[part].data};
               });
}

RandomProgram::Id RandomProgram::Dot(Id a) {
  const PrimitiveType type = at(a).type;
  if (type == PRED || BitWidth(type) < 8 || nodes_ != nullptr || at(a).dims.empty()) return a;
  if ((IsFloating(type) && BitWidth(type) < 16) || !IsSmall(at(a))) return a;
  // a's dims are batch, contracted and free ones at random; b has the first two kinds and a new
  // free one.
  std::vector<int64_t> batch, contracted, b_batch, b_contracted;
  std::vector<int64_t> free;
  Tensor b{type, {}, {}}, r{type, {}, {}};
  for (size_t d = 0; d < at(a).dims.size(); ++d) {
    const int kind = Below(3);
    (kind == 0 ? batch : kind == 1 ? contracted : free).push_back(static_cast<int64_t>(d));
  }
  for (int64_t d : contracted) {
    b_contracted.push_back(static_cast<int64_t>(b.dims.size()));
    b.dims.push_back(at(a).dims[d]);
  }
  const int64_t n = 1 + Below(20);
  b.dims.push_back(n);
  for (int64_t d : batch) {
    b_batch.push_back(static_cast<int64_t>(b.dims.size()));
    b.dims.push_back(at(a).dims[d]);
    r.dims.push_back(at(a).dims[d]);
  }
  for (int64_t d : free) r.dims.push_back(at(a).dims[d]);
  r.dims.push_back(n);
  if (Product(b.dims) > max_elements_ || Product(r.dims) > max_elements_) return a;
  int64_t depth = 1;
  for (int64_t d : contracted) depth *= at(a).dims[d];
  if (depth > MostTerms(type) || depth * Product(r.dims) > 2000000) return a;
  const Id rhs = SmallNumbers(type, b.dims);
  return AddOp("dot_general", {a, rhs},
               absl::StrCat("{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [",
                            List(batch), "], rhs_batching_dimensions = [", List(b_batch),
                            "], lhs_contracting_dimensions = [", List(contracted),
                            "], rhs_contracting_dimensions = [", List(b_contracted), "]>}"),
               absl::StrCat("(", at(a).TypeText(), ", ", at(rhs).TypeText(), ") -> ", r.TypeText()),
               [a, rhs, r, batch, contracted, free, depth](const auto& env) {
                 Tensor result = r;
                 const Tensor& x = env[a];
                 const Tensor& y = env[rhs];
                 std::vector<int64_t> contracted_dims;
                 for (int64_t d : contracted) contracted_dims.push_back(x.dims[d]);
                 for (int64_t i = 0, count = Product(r.dims); i < count; ++i) {
                   const auto at = Coordinates(i, r.dims);
                   Tensor sum = Zero(r.type);
                   for (int64_t p = 0; p < depth; ++p) {
                     const auto along = Coordinates(p, contracted_dims);
                     std::vector<int64_t> from(x.dims.size()), other(along);
                     for (size_t j = 0; j < batch.size(); ++j) from[batch[j]] = at[j];
                     for (size_t j = 0; j < free.size(); ++j) from[free[j]] = at[batch.size() + j];
                     for (size_t j = 0; j < contracted.size(); ++j) from[contracted[j]] = along[j];
                     other.push_back(at.back());
                     for (size_t j = 0; j < batch.size(); ++j) other.push_back(at[j]);
                     AddProduct(&sum, x, Linear(from, x.dims), y, Linear(other, y.dims));
                   }
                   result.Take(sum, 0);
                 }
                 return result;
               });
}

// a's dims are the batch, the features and up to two spatial ones, in this order or with the
// features last; any window, and groups of features where they can be divided.
RandomProgram::Id RandomProgram::Convolution(Id a) {
  const PrimitiveType type = at(a).type;
  const std::vector<int64_t> in = at(a).dims;
  if (type == PRED || BitWidth(type) < 8 || nodes_ != nullptr || in.size() < 2 || in.size() > 4)
    return a;
  if ((IsFloating(type) && BitWidth(type) < 16) || !IsSmall(at(a)) || Product(in) == 0) return a;
  const size_t spatial = in.size() - 2;
  const bool last = OneIn(2);
  const size_t feature = last ? in.size() - 1 : 1, first = last ? 1 : 2;
  int64_t groups = 1;
  for (int64_t g : {2, 3, 5}) {
    if (in[feature] % g == 0 && OneIn(2)) groups = g;
  }
  const int64_t outputs = groups * (1 + Below(3));
  // The kernel: places of the window, input features, output features.
  std::vector<int64_t> kernel_dims, places, stride, low, high, spread, holes;
  std::vector<int> reversed;
  std::string padding, reversal;
  int64_t terms = in[feature] / groups;
  for (size_t d = 0; d < spatial; ++d) {
    kernel_dims.push_back(1 + Below(3));
    terms *= kernel_dims[d];
    stride.push_back(1 + Below(2));
    low.push_back(Below(4) - 1);
    high.push_back(Below(4) - 1);
    spread.push_back(OneIn(4) ? 2 : 1);
    holes.push_back(OneIn(4) ? 2 : 1);
    reversed.push_back(OneIn(4) ? 1 : 0);
    const int64_t padded = (in[first + d] - 1) * spread[d] + 1 + low[d] + high[d];
    const int64_t window = (kernel_dims[d] - 1) * holes[d] + 1;
    places.push_back(padded < window ? 0 : (padded - window) / stride[d] + 1);
    absl::StrAppend(&padding, d > 0 ? ", " : "", "[", low[d], ", ", high[d], "]");
    absl::StrAppend(&reversal, d > 0 ? ", " : "", reversed[d] != 0 ? "true" : "false");
  }
  kernel_dims.push_back(in[feature] / groups);
  kernel_dims.push_back(outputs);
  Tensor r{type, {in[0]}, {}};
  if (!last) r.dims.push_back(outputs);
  r.dims.insert(r.dims.end(), places.begin(), places.end());
  if (last) r.dims.push_back(outputs);
  if (terms > MostTerms(type) || Product(r.dims) > max_elements_ ||
      terms * Product(r.dims) > 1000000)
    return a;
  const Id kernel = SmallNumbers(type, kernel_dims);
  std::string numbers;
  for (size_t d = 0; d < spatial; ++d) absl::StrAppend(&numbers, d > 0 ? ", " : "", d);
  const std::string comma = spatial > 0 ? ", " : "";
  const std::string arrays = last ? absl::StrCat("[b, ", numbers, comma, "f]")
                                  : absl::StrCat("[b, f", comma, numbers, "]");
  return Add(absl::StrCat(
                 "stablehlo.convolution(", Name(a), ", ", Name(kernel), ") dim_numbers = ", arrays,
                 "x[", numbers, comma, "i, o]->", arrays, ", window = {stride = [", List(stride),
                 "], pad = [", padding, "], lhs_dilate = [", List(spread), "], rhs_dilate = [",
                 List(holes), "], reverse = [", reversal,
                 "]} {batch_group_count = 1 : i64, feature_group_count = ", groups, " : i64} : (",
                 at(a).TypeText(), ", ", at(kernel).TypeText(), ") -> ", r.TypeText()),
             [=](const auto& env) {
               Tensor result = r;
               const Tensor &x = env[a], &k = env[kernel];
               const std::vector<int64_t> window(kernel_dims.begin(), kernel_dims.end() - 2);
               const int64_t group_inputs = in[feature] / groups, group_outputs = outputs / groups;
               for (int64_t i = 0, count = Product(r.dims); i < count; ++i) {
                 const auto at = Coordinates(i, r.dims);
                 const int64_t output = at[feature];
                 Tensor sum = Zero(type);
                 for (int64_t w = 0; w < Product(window); ++w) {
                   std::vector<int64_t> tap = Coordinates(w, window), from(in.size());
                   bool inside = true;
                   for (size_t d = 0; d < spatial; ++d) {
                     const int64_t p = at[first + d] * stride[d] + tap[d] * holes[d] - low[d];
                     inside &= p >= 0 && p % spread[d] == 0 && p / spread[d] < in[first + d];
                     from[first + d] = p / spread[d];
                     if (reversed[d] != 0) tap[d] = window[d] - 1 - tap[d];
                   }
                   if (!inside) continue;
                   from[0] = at[0];
                   tap.resize(spatial + 2, output);
                   for (int64_t f = 0; f < group_inputs; ++f) {
                     from[feature] = output / group_outputs * group_inputs + f;
                     tap[spatial] = f;
                     AddProduct(&sum, x, Linear(from, in), k, Linear(tap, kernel_dims));
                   }
                 }
                 result.Take(sum, 0);
               }
               return result;
             });
}

}  // namespace pjrt::cpu

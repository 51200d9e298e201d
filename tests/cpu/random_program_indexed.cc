// SPDX-License-Identifier: Apache-2.0
//
// Ops that look up places by data, sorts and windows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/cpu/random_program.h"

namespace pjrt::cpu {
namespace {

// A reducer or combiner of two elements by the op of that name.
std::string Region(const std::string& op, const std::string& element) {
  return absl::StrCat("({\n^bb0(%l: ", element, ", %r: ", element, "):\n  %s = stablehlo.", op,
                      " %l, %r : ", element, "\n  stablehlo.return %s : ", element, "\n})");
}

int64_t Clamped(double index, int64_t limit) {
  return std::clamp<int64_t>(static_cast<int64_t>(index), 0, limit);
}

}  // namespace

// i * step - below for row i, in each of `columns`: some places in range, others not.
RandomProgram::Id RandomProgram::Places(int64_t rows, int64_t columns) {
  const Tensor shape{S32, {rows, columns}, {}};
  const double step = Below(4), below = Below(5) - 1;
  const int64_t dim = Below(2);
  const Id iota = Add(absl::StrCat("stablehlo.iota dim = ", dim, " : ", shape.TypeText()),
                      [shape, dim](const auto&) {
                        Tensor r = shape;
                        for (int64_t i = 0, n = Product(r.dims); i < n; ++i)
                          r.data.push_back(static_cast<double>(Coordinates(i, r.dims)[dim]));
                        return r;
                      });
  const auto splat = [&](double v) {
    return Constant({S32, shape.dims, std::vector<double>(rows * columns, v)});
  };
  const Id factor = splat(step), offset = splat(below);
  const std::string text = shape.TypeText();
  const std::string types = absl::StrCat("(", text, ", ", text, ") -> ", text);
  const auto binary = [&](const char* op, Id a, Id b) {
    return AddOp(op, {a, b}, "", types, [a, b, op = std::string(op)](const auto& env) {
      Tensor r = env[a];
      for (int64_t i = 0; i < r.count(); ++i) r.data[i] = Apply(op, S32, r.data[i], env[b].data[i]);
      return r;
    });
  };
  return binary("subtract", binary("multiply", iota, factor), offset);
}

RandomProgram::Id RandomProgram::DynamicSlice(Id a, bool update) {
  const size_t rank = at(a).dims.size();
  std::vector<Id> starts;
  Tensor slice{at(a).type, {}, {}};
  for (size_t d = 0; d < rank; ++d) {
    slice.dims.push_back(Below(static_cast<int>(std::min<int64_t>(at(a).dims[d], 20)) + 1));
    starts.push_back(Constant({S32, {}, {static_cast<double>(Below(9) - 3)}}));
  }
  std::vector<Id> operands = {a};
  Id piece = -1;
  if (update) {
    piece = Constant(RandomTensor(slice.type, slice.dims));
    operands.push_back(piece);
  }
  operands.insert(operands.end(), starts.begin(), starts.end());
  std::string types;
  for (Id id : operands) absl::StrAppend(&types, types.empty() ? "" : ", ", at(id).TypeText());
  const std::vector<int64_t> sizes = slice.dims;
  const auto first = [starts, sizes](const auto& env, const std::vector<int64_t>& dims) {
    std::vector<int64_t> from;
    for (size_t d = 0; d < dims.size(); ++d)
      from.push_back(Clamped(env[starts[d]].data[0], dims[d] - sizes[d]));
    return from;
  };
  if (update) {
    return AddOp("dynamic_update_slice", operands, "",
                 absl::StrCat("(", types, ") -> ", at(a).TypeText()),
                 [a, piece, first](const auto& env) {
                   Tensor r = env[a];
                   const std::vector<int64_t> from = first(env, r.dims);
                   for (int64_t i = 0; i < env[piece].count(); ++i) {
                     auto to = Coordinates(i, env[piece].dims);
                     for (size_t d = 0; d < to.size(); ++d) to[d] += from[d];
                     r.Put(Linear(to, r.dims), env[piece], i);
                   }
                   return r;
                 });
  }
  return AddOp("dynamic_slice", operands, absl::StrCat("{slice_sizes = ", Array64(sizes), "}"),
               absl::StrCat("(", types, ") -> ", slice.TypeText()),
               [a, slice, first](const auto& env) {
                 Tensor r = slice;
                 const std::vector<int64_t> from = first(env, env[a].dims);
                 for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
                   auto at = Coordinates(i, r.dims);
                   for (size_t d = 0; d < at.size(); ++d) at[d] += from[d];
                   r.Take(env[a], Linear(at, env[a].dims));
                 }
                 return r;
               });
}

// Windows of a at places for the first dims; those dims of size 1 may be left out of the result.
RandomProgram::Id RandomProgram::GatherOrScatter(Id a) {
  const int rank = static_cast<int>(at(a).dims.size());
  if (rank == 0 || Product(at(a).dims) == 0) return a;
  const int mapped = 1 + Below(rank);
  std::vector<int64_t> sizes, collapsed, map, window_dims;
  Tensor windows{at(a).type, {1 + Below(6)}, {}};
  for (int d = 0; d < rank; ++d) {
    sizes.push_back(1 + Below(static_cast<int>(std::min<int64_t>(at(a).dims[d], 5))));
    if (d < mapped) map.push_back(d);
    if (OneIn(2)) sizes[d] = 1;
    if (sizes[d] == 1 && OneIn(2)) {
      collapsed.push_back(d);
    } else {
      window_dims.push_back(static_cast<int64_t>(windows.dims.size()));
      windows.dims.push_back(sizes[d]);
    }
  }
  // Coordinates in a of a coordinate in the windows, before the start is added.
  const auto within = [collapsed, rank](const std::vector<int64_t>& at) {
    std::vector<int64_t> inner;
    size_t next = 1;
    for (int d = 0; d < rank; ++d) {
      const bool left_out = std::find(collapsed.begin(), collapsed.end(), d) != collapsed.end();
      inner.push_back(left_out ? 0 : at[next++]);
    }
    return inner;
  };
  const Id places = Places(windows.dims[0], mapped);
  const Id gathered = AddOp(
      "gather", {a, places},
      absl::StrCat("{dimension_numbers = #stablehlo.gather<offset_dims = [", List(window_dims),
                   "], collapsed_slice_dims = [", List(collapsed), "], start_index_map = [",
                   List(map), "], index_vector_dim = 1>, slice_sizes = ", Array64(sizes), "}"),
      absl::StrCat("(", at(a).TypeText(), ", ", at(places).TypeText(), ") -> ", windows.TypeText()),
      [a, places, windows, within, sizes, mapped](const auto& env) {
        Tensor r = windows;
        for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
          const auto at = Coordinates(i, r.dims);
          auto from = within(at);
          for (int d = 0; d < mapped; ++d)
            from[d] += Clamped(env[places].data[at[0] * mapped + d], env[a].dims[d] - sizes[d]);
          r.Take(env[a], Linear(from, env[a].dims));
        }
        return r;
      });
  if (OneIn(2)) return gathered;
  const PrimitiveType type = at(a).type;
  const std::string op = type == PRED      ? "xor"
                         : IsComplex(type) ? (OneIn(2) ? "add" : "multiply")
                         : OneIn(2)        ? "maximum"
                                           : "add";
  const std::string element = Tensor{type, {}, {}}.TypeText();
  const Id to = Places(windows.dims[0], mapped);
  return Add(
      absl::StrCat("\"stablehlo.scatter\"(", Name(a), ", ", Name(to), ", ", Name(gathered), ") ",
                   Region(op, element), " {scatter_dimension_numbers = #stablehlo.scatter<",
                   "update_window_dims = [", List(window_dims), "], inserted_window_dims = [",
                   List(collapsed), "], scatter_dims_to_operand_dims = [", List(map),
                   "], index_vector_dim = 1>} : (", at(a).TypeText(), ", ", at(to).TypeText(), ", ",
                   windows.TypeText(), ") -> ", at(a).TypeText()),
      [a, to, gathered, within, mapped, op](const auto& env) {
        Tensor r = env[a];
        for (int64_t i = 0; i < env[gathered].count(); ++i) {
          const auto at = Coordinates(i, env[gathered].dims);
          auto place = within(at);
          bool inside = true;
          for (size_t d = 0; d < place.size(); ++d) {
            if (static_cast<int>(d) < mapped)
              place[d] += static_cast<int64_t>(env[to].data[at[0] * mapped + d]);
            inside &= place[d] >= 0 && place[d] < r.dims[d];
          }
          if (!inside) continue;
          Combine(op, &r, Linear(place, r.dims), env[gathered], i);
        }
        return r;
      });
}

RandomProgram::Id RandomProgram::Sort(Id a) {
  if (at(a).dims.empty() || IsComplex(at(a).type)) return a;
  // NaNs have no order here, and what a loop computes is not known.
  if (IsFloating(at(a).type)) {
    if (nodes_ != nullptr) return a;
    for (double v : at(a).data) {
      if (std::isnan(v)) return a;
    }
  }
  const int64_t dim = Below(static_cast<int>(at(a).dims.size()));
  const bool descending = OneIn(2);
  const std::string element = Tensor{at(a).type, {}, {}}.TypeText();
  const std::string text = at(a).TypeText();
  return Add(
      absl::StrCat("\"stablehlo.sort\"(", Name(a), ") ({\n^bb0(%l: ", element, ", %r: ", element,
                   "):\n  %p = stablehlo.compare ", descending ? "GT" : "LT", ", %l, %r : (",
                   element, ", ", element, ") -> tensor<i1>\n  stablehlo.return %p : tensor<i1>\n",
                   "}) {dimension = ", dim, " : i64, is_stable = true} : (", text, ") -> ", text),
      [a, dim, descending](const auto& env) {
        Tensor r = env[a];
        int64_t inner = 1;
        for (size_t d = dim + 1; d < r.dims.size(); ++d) inner *= r.dims[d];
        const int64_t length = r.dims[dim];
        for (int64_t line = 0; line < r.count() / std::max<int64_t>(length, 1); ++line) {
          const int64_t begin = line / inner * inner * length + line % inner;
          std::vector<double> values;
          for (int64_t k = 0; k < length; ++k) values.push_back(r.data[begin + k * inner]);
          std::stable_sort(values.begin(), values.end(),
                           [&](double x, double y) { return descending ? x > y : x < y; });
          for (int64_t k = 0; k < length; ++k) r.data[begin + k * inner] = values[k];
        }
        return r;
      });
}

RandomProgram::Id RandomProgram::ReduceWindow(Id a) {
  const PrimitiveType type = at(a).type;
  const size_t rank = at(a).dims.size();
  if (Product(at(a).dims) == 0) return a;
  if (IsComplex(type) && (nodes_ != nullptr || !SumsAreExact(at(a)))) return a;
  std::vector<int64_t> sizes, strides, spread, holes, low;
  std::string padding;
  Tensor r{type, {}, {}};
  for (size_t d = 0; d < rank; ++d) {
    sizes.push_back(1 + Below(3));
    strides.push_back(1 + Below(2));
    spread.push_back(OneIn(4) ? 2 : 1);
    holes.push_back(OneIn(4) ? 2 : 1);
    low.push_back(Below(3));
    const int64_t high = Below(3);
    const int64_t padded = (at(a).dims[d] - 1) * spread[d] + 1 + low[d] + high;
    const int64_t window = (sizes[d] - 1) * holes[d] + 1;
    r.dims.push_back(padded < window ? 0 : (padded - window) / strides[d] + 1);
    absl::StrAppend(&padding, d > 0 ? ", " : "", "[", low[d], ", ", high, "]");
  }
  if (Product(r.dims) * Product(sizes) > 4 * max_elements_) return a;
  const std::string op = IsComplex(type)   ? "add"
                         : IsInteger(type) ? (OneIn(2) ? "add" : "maximum")
                         : type == PRED    ? "or"
                                           : (OneIn(2) ? "maximum" : "minimum");
  Tensor scalar{type, {}, {IsFloating(type) ? -2.0 : 0.0}};
  if (IsComplex(type)) scalar.imag = {0};
  const Id init = Constant(scalar);
  return Add(absl::StrCat(
                 "\"stablehlo.reduce_window\"(", Name(a), ", ", Name(init), ") ",
                 Region(op, scalar.TypeText()), " {window_dimensions = ", Array64(sizes),
                 ", window_strides = ", Array64(strides), ", base_dilations = ", Array64(spread),
                 ", window_dilations = ", Array64(holes), ", padding = dense<",
                 rank == 0 ? "" : absl::StrCat("[", padding, "]"), "> : tensor<", rank,
                 "x2xi64>} : (", at(a).TypeText(), ", ", scalar.TypeText(), ") -> ", r.TypeText()),
             [a, init, r, sizes, strides, spread, holes, low, op](const auto& env) {
               Tensor result = r;
               for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
                 const auto place = Coordinates(i, r.dims);
                 Tensor value = env[init];
                 for (int64_t w = 0, m = Product(sizes); w < m; ++w) {
                   auto from = Coordinates(w, sizes);
                   bool inside = true;
                   for (size_t d = 0; d < from.size(); ++d) {
                     from[d] = place[d] * strides[d] + from[d] * holes[d] - low[d];
                     inside &= from[d] >= 0 && from[d] % spread[d] == 0 &&
                               from[d] / spread[d] < env[a].dims[d];
                     from[d] /= spread[d];
                   }
                   if (inside) {
                     Combine(op, &value, 0, env[a], Linear(from, env[a].dims));
                   } else {
                     Combine(op, &value, 0, env[init], 0);
                   }
                 }
                 result.Take(value, 0);
               }
               return result;
             });
}

}  // namespace pjrt::cpu

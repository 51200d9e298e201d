// SPDX-License-Identifier: Apache-2.0
//
// Ops that move elements.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "tests/cpu/random_program.h"

namespace pjrt::cpu {

RandomProgram::Id RandomProgram::Broadcast(Id a) {
  // New dims between the old ones; old dims of size 1 may grow.
  Tensor r{at(a).type, {}, {}};
  std::vector<int64_t> map;
  for (size_t d = 0; d <= at(a).dims.size(); ++d) {
    if (OneIn(2) && r.dims.size() < 6) r.dims.push_back(1 + Below(OneIn(3) ? 70 : 5));
    if (d == at(a).dims.size()) break;
    map.push_back(static_cast<int64_t>(r.dims.size()));
    r.dims.push_back(at(a).dims[d] == 1 && OneIn(2) ? 1 + Below(9) : at(a).dims[d]);
  }
  if (Product(r.dims) > max_elements_) return a;
  return AddOp("broadcast_in_dim", {a}, absl::StrCat("{broadcast_dimensions = ", Array64(map), "}"),
               absl::StrCat("(", at(a).TypeText(), ") -> ", r.TypeText()),
               [a, r, map](const auto& env) {
                 Tensor result = r;
                 for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
                   const auto to = Coordinates(i, r.dims);
                   std::vector<int64_t> from;
                   for (size_t j = 0; j < map.size(); ++j)
                     from.push_back(env[a].dims[j] == 1 ? 0 : to[map[j]]);
                   result.Take(env[a], Linear(from, env[a].dims));
                 }
                 return result;
               });
}

RandomProgram::Id RandomProgram::Transpose(Id a) {
  std::vector<int64_t> permutation(at(a).dims.size());
  std::iota(permutation.begin(), permutation.end(), 0);
  std::shuffle(permutation.begin(), permutation.end(), random_);
  Tensor r{at(a).type, {}, {}};
  for (int64_t p : permutation) r.dims.push_back(at(a).dims[p]);
  return AddOp("transpose", {a}, absl::StrCat("{permutation = ", Array64(permutation), "}"),
               absl::StrCat("(", at(a).TypeText(), ") -> ", r.TypeText()),
               [a, r, permutation](const auto& env) {
                 Tensor result = r;
                 for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
                   const auto to = Coordinates(i, r.dims);
                   std::vector<int64_t> from(to.size());
                   for (size_t d = 0; d < to.size(); ++d) from[permutation[d]] = to[d];
                   result.Take(env[a], Linear(from, env[a].dims));
                 }
                 return result;
               });
}

RandomProgram::Id RandomProgram::Slice(Id a) {
  std::vector<int64_t> start, limit, stride;
  Tensor r{at(a).type, {}, {}};
  for (int64_t d : at(a).dims) {
    start.push_back(OneIn(2) || d == 0 ? 0 : Below(static_cast<int>(d)));
    limit.push_back(OneIn(2) ? d : start.back() + Below(static_cast<int>(d - start.back() + 1)));
    stride.push_back(OneIn(2) ? 1 : 1 + Below(4));
    r.dims.push_back((limit.back() - start.back() + stride.back() - 1) / stride.back());
  }
  return AddOp("slice", {a},
               absl::StrCat("{start_indices = ", Array64(start), ", limit_indices = ",
                            Array64(limit), ", strides = ", Array64(stride), "}"),
               absl::StrCat("(", at(a).TypeText(), ") -> ", r.TypeText()),
               [a, r, start, stride](const auto& env) {
                 Tensor result = r;
                 for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
                   auto from = Coordinates(i, r.dims);
                   for (size_t d = 0; d < from.size(); ++d)
                     from[d] = start[d] + from[d] * stride[d];
                   result.Take(env[a], Linear(from, env[a].dims));
                 }
                 return result;
               });
}

RandomProgram::Id RandomProgram::Reverse(Id a) {
  std::vector<int64_t> dims;
  for (size_t d = 0; d < at(a).dims.size(); ++d) {
    if (OneIn(2)) dims.push_back(static_cast<int64_t>(d));
  }
  return AddOp("reverse", {a}, absl::StrCat("{dimensions = ", Array64(dims), "}"),
               absl::StrCat("(", at(a).TypeText(), ") -> ", at(a).TypeText()),
               [a, dims](const auto& env) {
                 Tensor r = env[a];
                 for (int64_t i = 0; i < r.count(); ++i) {
                   auto from = Coordinates(i, r.dims);
                   for (int64_t d : dims) from[d] = r.dims[d] - 1 - from[d];
                   r.Put(i, env[a], Linear(from, r.dims));
                 }
                 return r;
               });
}

RandomProgram::Id RandomProgram::Reshape(Id a) {
  // Merges neighbours and splits off small factors.
  Tensor r{at(a).type, {}, {}};
  for (int64_t d : at(a).dims) {
    if (!r.dims.empty() && OneIn(3)) {
      r.dims.back() *= d;
    } else {
      r.dims.push_back(d);
    }
  }
  for (size_t d = 0; d < r.dims.size() && r.dims.size() < 6; ++d) {
    for (int64_t f : {2, 3, 5}) {
      if (r.dims[d] > f && r.dims[d] % f == 0 && OneIn(2)) {
        r.dims[d] /= f;
        r.dims.insert(r.dims.begin() + static_cast<int64_t>(d), f);
        break;
      }
    }
  }
  if (OneIn(3)) r.dims.insert(r.dims.begin() + Below(static_cast<int>(r.dims.size()) + 1), 1);
  return AddOp("reshape", {a}, "", absl::StrCat("(", at(a).TypeText(), ") -> ", r.TypeText()),
               [a, r](const auto& env) {
                 Tensor result = env[a];
                 result.dims = r.dims;
                 return result;
               });
}

RandomProgram::Id RandomProgram::Concatenate(Id a) {
  if (at(a).dims.empty()) return a;
  const int64_t dim = Below(static_cast<int>(at(a).dims.size()));
  std::vector<Id> parts = {a};
  for (int i = Below(3); i >= 0; --i) {
    const Id part = OneIn(2) ? Slice(a) : Like(a);
    parts.push_back(OneIn(2) ? Unary(part) : part);
  }
  Tensor r{at(a).type, at(a).dims, {}};
  std::vector<Id> fitting;
  r.dims[dim] = 0;
  std::shuffle(parts.begin(), parts.end(), random_);
  std::string types;
  for (Id id : parts) {
    bool fits = true;
    for (size_t d = 0; d < r.dims.size(); ++d)
      fits &= static_cast<int64_t>(d) == dim || at(id).dims[d] == r.dims[d];
    if (!fits) continue;
    fitting.push_back(id);
    r.dims[dim] += at(id).dims[dim];
    absl::StrAppend(&types, types.empty() ? "" : ", ", at(id).TypeText());
  }
  return AddOp("concatenate", fitting, absl::StrCat("{dimension = ", dim, " : i64}"),
               absl::StrCat("(", types, ") -> ", r.TypeText()), [fitting, r, dim](const auto& env) {
                 Tensor result = r;
                 for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
                   auto from = Coordinates(i, r.dims);
                   size_t part = 0;
                   while (from[dim] >= env[fitting[part]].dims[dim])
                     from[dim] -= env[fitting[part++]].dims[dim];
                   result.Take(env[fitting[part]], Linear(from, env[fitting[part]].dims));
                 }
                 return result;
               });
}

RandomProgram::Id RandomProgram::Pad(Id a) {
  std::vector<int64_t> low, high, interior;
  Tensor r{at(a).type, {}, {}};
  for (int64_t d : at(a).dims) {
    interior.push_back(OneIn(3) ? 1 + Below(2) : 0);
    const int64_t inner = d == 0 ? 0 : d + (d - 1) * interior.back();
    low.push_back(Below(5) - 2);
    high.push_back(Below(5) - 2);
    if (inner + low.back() + high.back() < 0) low.back() = high.back() = 0;
    r.dims.push_back(inner + low.back() + high.back());
  }
  if (Product(r.dims) > max_elements_) return a;
  const Id value = Constant(RandomTensor(at(a).type, {}));
  return AddOp(
      "pad", {a, value},
      absl::StrCat("{edge_padding_low = ", Array64(low), ", edge_padding_high = ", Array64(high),
                   ", interior_padding = ", Array64(interior), "}"),
      absl::StrCat("(", at(a).TypeText(), ", ", at(value).TypeText(), ") -> ", r.TypeText()),
      [a, value, r, low, interior](const auto& env) {
        Tensor result = r;
        result.Fill(Product(r.dims), env[value]);
        for (int64_t i = 0; i < env[a].count(); ++i) {
          auto to = Coordinates(i, env[a].dims);
          bool inside = true;
          for (size_t d = 0; d < to.size(); ++d) {
            to[d] = low[d] + to[d] * (interior[d] + 1);
            inside &= to[d] >= 0 && to[d] < r.dims[d];
          }
          if (inside) result.Put(Linear(to, r.dims), env[a], i);
        }
        return result;
      });
}

RandomProgram::Id RandomProgram::Iota() {
  Tensor r{OneIn(2) ? S32 : OneIn(4) ? C64 : F32, RandomDims(), {}};
  if (r.dims.empty()) r.dims = {5};
  const int64_t dim = Below(static_cast<int>(r.dims.size()));
  return Add(absl::StrCat("stablehlo.iota dim = ", dim, " : ", r.TypeText()),
             [r, dim](const auto&) {
               Tensor result = r;
               for (int64_t i = 0, n = Product(r.dims); i < n; ++i)
                 result.data.push_back(static_cast<double>(Coordinates(i, r.dims)[dim]));
               if (IsComplex(r.type)) result.imag.resize(result.data.size());
               return result;
             });
}

}  // namespace pjrt::cpu

// SPDX-License-Identifier: Apache-2.0
//
// Ops that fold many elements into one, and control flow.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/cpu/random_program.h"

namespace pjrt::cpu {
namespace {

int64_t Int(double value) { return static_cast<int64_t>(value); }

// Whether sums of these values are exact in any order.
bool SumsAreExact(const Tensor& t) {
  if (!IsFloating(t.type)) return true;
  double sum = 0;
  for (double v : t.data) {
    if (!(std::fabs(v) < 1e6) || v != std::floor(v) || (v == 0 && std::signbit(v))) return false;
    sum += std::fabs(v);
  }
  return sum < (t.type == F32 ? 1 << 24 : t.type == F16 ? 1 << 11 : t.type == BF16 ? 1 << 8 : 4);
}

}  // namespace

RandomProgram::Id RandomProgram::Reduce(Id a) {
  const PrimitiveType type = at(a).type;
  std::vector<int64_t> dims;
  Tensor r{type, {}, {}};
  for (size_t d = 0; d < at(a).dims.size(); ++d) {
    if (OneIn(2)) {
      dims.push_back(static_cast<int64_t>(d));
    } else {
      r.dims.push_back(at(a).dims[d]);
    }
  }
  std::string op = OneIn(2) ? "maximum" : "minimum";
  if (nodes_ == nullptr && SumsAreExact(at(a)) && OneIn(2)) op = "add";
  if (IsInteger(type))
    op = std::vector<std::string>{"add", "multiply", "maximum", "and", "xor"}[Below(5)];
  if (type == PRED) op = OneIn(2) ? "and" : "or";
  Tensor zero{type, {}, {op == "multiply" || op == "and" ? 1.0 : IsFloating(type) ? -2.0 : 0.0}};
  const Id init = Constant(zero);
  const std::string element = zero.TypeText();
  // Written with both operands, so that it is a monoid, or with a detour that is not recognised as
  // one.
  const bool plain = !OneIn(3);
  const std::string body = absl::StrCat(
      "({\n", indent_, "^bb0(%l: ", element, ", %r: ", element, "):\n", indent_,
      "  %s = stablehlo.", op, " %l, %r : ", element, "\n",
      plain ? "" : absl::StrCat(indent_, "  %t = stablehlo.maximum %s, %s : ", element, "\n"),
      indent_, "  stablehlo.return ", plain ? "%s" : "%t", " : ", element, "\n", indent_, "})");
  return Add(absl::StrCat("\"stablehlo.reduce\"(", Name(a), ", ", Name(init), ") ", body,
                          " {dimensions = ", Array64(dims), "} : (", at(a).TypeText(), ", ",
                          element, ") -> ", r.TypeText()),
             [a, init, r, dims, op, type](const auto& env) {
               Tensor result = r;
               result.data.assign(Product(r.dims), env[init].data[0]);
               for (int64_t i = 0; i < env[a].count(); ++i) {
                 const auto from = Coordinates(i, env[a].dims);
                 std::vector<int64_t> to;
                 for (size_t d = 0; d < from.size(); ++d) {
                   if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end())
                     to.push_back(from[d]);
                 }
                 double& sum = result.data[Linear(to, r.dims)];
                 sum = RoundTo(type, Apply(op, type, sum, env[a].data[i]));
               }
               return result;
             });
}

// The first place of the largest value along one dim: a reduction of two operands at once.
RandomProgram::Id RandomProgram::ArgMax(Id a) {
  if (at(a).type != S32 || at(a).dims.empty()) return a;
  const size_t dim = Below(static_cast<int>(at(a).dims.size()));
  const Id index = Add(absl::StrCat("stablehlo.iota dim = ", dim, " : ", at(a).TypeText()),
                       [a, dim](const auto& env) {
                         Tensor r = env[a];
                         for (int64_t i = 0; i < r.count(); ++i)
                           r.data[i] = static_cast<double>(Coordinates(i, r.dims)[dim]);
                         return r;
                       });
  const Id low = Add("stablehlo.constant dense<-2147483648> : tensor<i32>", [](const auto&) {
    return Tensor{S32, {}, {-2147483648.0}};
  });
  const Id zero = Constant(Tensor{S32, {}, {0}});
  Tensor r{S32, at(a).dims, {}};
  r.dims.erase(r.dims.begin() + static_cast<int64_t>(dim));
  const std::string s = "tensor<i32>";
  const std::string body =
      absl::StrCat("({\n^bb0(%a: ", s, ", %ai: ", s, ", %b: ", s, ", %bi: ", s,
                   "):\n  %c = stablehlo.compare GE, %a, %b : (", s, ", ", s,
                   ") -> tensor<i1>\n  %m = stablehlo.select %c, %a, %b : tensor<i1>, ", s,
                   "\n  %i = stablehlo.select %c, %ai, %bi : tensor<i1>, ", s,
                   "\n  stablehlo.return %m, %i : ", s, ", ", s, "\n})");
  const Id id = static_cast<Id>(env_.size());
  absl::StrAppend(&body_, indent_, "%p", id, ":2 = \"stablehlo.reduce\"(", Name(a), ", ",
                  Name(index), ", ", Name(low), ", ", Name(zero), ") ", body,
                  " {dimensions = array<i64: ", dim, ">} : (", at(a).TypeText(), ", ",
                  at(index).TypeText(), ", ", s, ", ", s, ") -> (", r.TypeText(), ", ",
                  r.TypeText(), ")\n");
  return Add(
      absl::StrCat("stablehlo.reshape %p", id, "#1 : (", r.TypeText(), ") -> ", r.TypeText()),
      [a, r, dim](const auto& env) {
        Tensor result = r;
        result.data.assign(Product(r.dims), 0);
        std::vector<double> best(result.data.size(), -2147483648.0);
        std::vector<bool> seen(result.data.size(), false);
        for (int64_t i = 0; i < env[a].count(); ++i) {
          auto at = Coordinates(i, env[a].dims);
          const double place = static_cast<double>(at[dim]);
          at.erase(at.begin() + static_cast<int64_t>(dim));
          const int64_t to = Linear(at, r.dims);
          if (env[a].data[i] > best[to]) {
            best[to] = env[a].data[i];
            result.data[to] = place;
          }
        }
        return result;
      });
}

RandomProgram::Id RandomProgram::Dot(Id a) {
  if (at(a).type == PRED || BitWidth(at(a).type) < 8 || nodes_ != nullptr || at(a).dims.empty())
    return a;
  if (IsFloating(at(a).type) && BitWidth(at(a).type) < 16) return a;
  if (IsFloating(at(a).type)) {
    for (double v : at(a).data) {
      if (!(std::fabs(v) <= 8) || v != std::floor(v)) return a;
    }
  }
  // a's dims are batch, contracted and free ones at random; b has the first two kinds and a new
  // free one.
  std::vector<int64_t> batch, contracted, b_batch, b_contracted;
  std::vector<int64_t> free;
  Tensor b{at(a).type, {}, {}}, r{at(a).type, {}, {}};
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
  if (at(a).type == BF16 && depth > 8) return a;
  if (at(a).type == F16 && depth > 60) return a;
  if (depth * Product(r.dims) > 2000000) return a;
  // Values that depend on a, so that nothing is known beforehand: iota mod 3 by and.
  const int64_t iota_dim = Below(static_cast<int>(b.dims.size()));
  Tensor ints{S32, b.dims, {}};
  Id rhs = Add(absl::StrCat("stablehlo.iota dim = ", iota_dim, " : ", ints.TypeText()),
               [ints, iota_dim](const auto&) {
                 Tensor t = ints;
                 for (int64_t i = 0, count = Product(t.dims); i < count; ++i)
                   t.data.push_back(static_cast<double>(Coordinates(i, t.dims)[iota_dim]));
                 return t;
               });
  const Id mask = Constant(Tensor{S32, b.dims, std::vector<double>(Product(b.dims), 3)});
  rhs = AddOp("and", {rhs, mask}, "",
              absl::StrCat("(", ints.TypeText(), ", ", ints.TypeText(), ") -> ", ints.TypeText()),
              [rhs](const auto& env) {
                Tensor t = env[rhs];
                for (double& v : t.data) v = static_cast<double>(Int(v) & 3);
                return t;
              });
  if (b.type != S32) rhs = ConvertTo(rhs, b.type);
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
                   double sum = 0;
                   for (int64_t p = 0; p < depth; ++p) {
                     const auto along = Coordinates(p, contracted_dims);
                     std::vector<int64_t> from(x.dims.size()), other(along);
                     for (size_t j = 0; j < batch.size(); ++j) from[batch[j]] = at[j];
                     for (size_t j = 0; j < free.size(); ++j) from[free[j]] = at[batch.size() + j];
                     for (size_t j = 0; j < contracted.size(); ++j) from[contracted[j]] = along[j];
                     other.push_back(at.back());
                     for (size_t j = 0; j < batch.size(); ++j) other.push_back(at[j]);
                     sum = sum + x.data[Linear(from, x.dims)] * y.data[Linear(other, y.dims)];
                     if (IsInteger(r.type)) sum = RoundTo(r.type, sum);
                   }
                   result.data.push_back(RoundTo(r.type, sum + 0.0));
                 }
                 return result;
               });
}

// Two branches of ops on values from outside; which one runs depends on data.
void RandomProgram::If(Id a) {
  const Id pred = Constant(RandomTensor(PRED, {}));
  const std::vector<Id> outer_scope = scope_;
  const std::string outer_indent = indent_, outer_body = std::exchange(body_, "");
  ++depth_;
  indent_ += "  ";
  std::string regions[2];
  Id yielded[2];
  Nodes* const outer_nodes = nodes_;
  Nodes nodes[2];
  for (int b = 0; b < 2; ++b) {
    scope_ = outer_scope;
    body_.clear();
    nodes_ = &nodes[b];
    Id last = a;
    for (int i = 1 + Below(3); i > 0; --i) {
      RandomOp();
      for (Id id : scope_) {
        if (at(id).type == at(a).type && at(id).dims == at(a).dims) last = id;
      }
    }
    yielded[b] = last;
    regions[b] = absl::StrCat(body_, indent_, "stablehlo.return ", Name(last), " : ",
                              at(a).TypeText(), "\n");
  }
  --depth_;
  nodes_ = outer_nodes;
  scope_ = outer_scope;
  indent_ = outer_indent;
  body_ = outer_body;
  Add(absl::StrCat("\"stablehlo.if\"(", Name(pred), ") ({\n", regions[0], indent_, "}, {\n",
                   regions[1], indent_, "}) : (tensor<i1>) -> ", at(a).TypeText()),
      [pred, yes = yielded[0], no = yielded[1], n0 = nodes[0],
       n1 = nodes[1]](const std::vector<Tensor>& env) {
        std::vector<Tensor> inner = env;
        for (const Nodes* nodes_of : {&n0, &n1}) {
          for (const Node& node : *nodes_of) inner[node.id] = node.eval(inner);
        }
        return inner[inner[pred].data[0] != 0 ? yes : no];
      });
}

// Carries two values of one type, a few times round.
void RandomProgram::While(Id a) {
  const Id b = Like(a);
  const int trips = Below(4);
  const Id zero = Constant(Tensor{S32, {}, {0}});
  const std::vector<Id> outer_scope = scope_;
  const std::string outer_indent = indent_, outer_body = std::exchange(body_, "");
  const Id x = static_cast<Id>(env_.size()), y = x + 1;
  env_.push_back(at(a));
  env_.push_back(at(b));
  scope_.push_back(x);
  scope_.push_back(y);
  ++depth_;
  indent_ += "  ";
  Nodes* const outer_nodes = nodes_;
  Nodes nodes;
  nodes_ = &nodes;
  for (int i = 1 + Below(4); i > 0; --i) RandomOp();
  std::vector<Id> candidates;
  for (Id id : scope_) {
    if (at(id).type == at(a).type && at(id).dims == at(a).dims) candidates.push_back(id);
  }
  const Id new_x = candidates[candidates.size() - 1 -
                              Below(std::min<int>(3, static_cast<int>(candidates.size())))];
  const Id new_y = candidates[Below(static_cast<int>(candidates.size()))];
  const std::string region = body_;
  --depth_;
  nodes_ = outer_nodes;
  scope_ = outer_scope;
  indent_ = outer_indent;
  body_ = outer_body;
  const std::string type = at(a).TypeText();
  const std::string all = absl::StrCat("tensor<i32>, ", type, ", ", type);
  const std::string tag = absl::StrCat(x);
  const std::string arguments =
      absl::StrCat("%n", tag, ": tensor<i32>, ", Name(x), ": ", type, ", ", Name(y), ": ", type);
  const std::string cond_arguments =
      absl::StrCat("%n", tag, "c: tensor<i32>, %x", tag, "c: ", type, ", %y", tag, "c: ", type);
  const Id which = static_cast<Id>(env_.size());
  absl::StrAppend(&body_, indent_, "%w", which, ":3 = \"stablehlo.while\"(", Name(zero), ", ",
                  Name(a), ", ", Name(b), ") ({\n", indent_, "^bb0(", cond_arguments, "):\n",
                  indent_, "  %limit", tag, " = stablehlo.constant dense<", trips,
                  "> : tensor<i32>\n", indent_, "  %go", tag, " = stablehlo.compare LT, %n", tag,
                  "c, %limit", tag, " : (tensor<i32>, tensor<i32>) -> tensor<i1>\n", indent_,
                  "  stablehlo.return %go", tag, " : tensor<i1>\n", indent_, "}, {\n", indent_,
                  "^bb0(", arguments, "):\n", region, indent_, "  %one", tag,
                  " = stablehlo.constant dense<1> : tensor<i32>\n", indent_, "  %next", tag,
                  " = stablehlo.add %n", tag, ", %one", tag, " : tensor<i32>\n", indent_,
                  "  stablehlo.return %next", tag, ", ", Name(new_x), ", ", Name(new_y), " : ", all,
                  "\n", indent_, "}) : (", all, ") -> (", all, ")\n");
  for (int result = 0; result < 2; ++result) {
    // Named like any other value, by an op that does nothing.
    Add(absl::StrCat("stablehlo.reshape %w", which, "#", 1 + result, " : (", type, ") -> ", type),
        [=](const std::vector<Tensor>& env) {
          std::vector<Tensor> inner = env;
          inner[x] = env[a];
          inner[y] = env[b];
          for (int i = 0; i < trips; ++i) {
            for (const Node& node : nodes) inner[node.id] = node.eval(inner);
            Tensor next_x = inner[new_x], next_y = inner[new_y];
            inner[x] = std::move(next_x);
            inner[y] = std::move(next_y);
          }
          return inner[result == 0 ? x : y];
        });
  }
}
}  // namespace pjrt::cpu

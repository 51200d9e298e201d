// SPDX-License-Identifier: Apache-2.0
//
// Ops that fold many elements into one, and control flow.
#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/cpu/random_program.h"

namespace pjrt::cpu {
namespace {}  // namespace

bool RandomProgram::SumsAreExact(const Tensor& t) {
  if (!IsFloating(t.type) && !IsComplex(t.type)) return true;
  double sum = 0;
  for (const std::vector<double>* part : {&t.data, &t.imag}) {
    for (double v : *part) {
      if (!(std::fabs(v) < 1e6) || v != std::floor(v) || (v == 0 && std::signbit(v))) return false;
      sum += std::fabs(v);
    }
  }
  const int bits = BitWidth(t.type) >= 32 ? 24 : t.type == F16 ? 11 : t.type == BF16 ? 8 : 2;
  return sum < 1 << bits;
}

RandomProgram::Id RandomProgram::Reduce(Id a) {
  const PrimitiveType type = at(a).type;
  if (IsComplex(type) && (nodes_ != nullptr || !SumsAreExact(at(a)))) return a;
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
  if (IsComplex(type)) op = "add";
  Tensor zero{type, {}, {op == "multiply" || op == "and" ? 1.0 : IsFloating(type) ? -2.0 : 0.0}};
  if (IsComplex(type)) zero.imag = {0};
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
             [a, init, r, dims, op](const auto& env) {
               Tensor result = r;
               result.Fill(Product(r.dims), env[init]);
               for (int64_t i = 0; i < env[a].count(); ++i) {
                 const auto from = Coordinates(i, env[a].dims);
                 std::vector<int64_t> to;
                 for (size_t d = 0; d < from.size(); ++d) {
                   if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end())
                     to.push_back(from[d]);
                 }
                 Combine(op, &result, Linear(to, r.dims), env[a], i);
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

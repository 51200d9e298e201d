// SPDX-License-Identifier: Apache-2.0
#include "tests/cpu/random_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kMaxElements = 20000;

int64_t Product(const std::vector<int64_t>& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::vector<int64_t> Coordinates(int64_t linear, const std::vector<int64_t>& dims) {
  std::vector<int64_t> at(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    at[d] = linear % dims[d];
    linear /= dims[d];
  }
  return at;
}

int64_t Linear(const std::vector<int64_t>& at, const std::vector<int64_t>& dims) {
  int64_t linear = 0;
  for (size_t d = 0; d < dims.size(); ++d) linear = linear * dims[d] + at[d];
  return linear;
}

std::string List(const std::vector<int64_t>& values) { return absl::StrJoin(values, ", "); }

std::string Array64(const std::vector<int64_t>& values) {
  return values.empty() ? "array<i64>" : absl::StrCat("array<i64: ", List(values), ">");
}

double Maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double Minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

int64_t Int(double value) { return static_cast<int64_t>(value); }

// op on values of `type`; the result is not yet rounded.
double Apply(const std::string& op, PrimitiveType type, double a, double b) {
  if (op == "maximum") return Maximum(a, b);
  if (op == "minimum") return Minimum(a, b);
  if (type == PRED) {
    const bool x = a != 0, y = b != 0;
    return op == "and" || op == "multiply" ? x && y : op == "xor" ? x != y : x || y;
  }
  if (IsInteger(type)) {
    const int64_t x = Int(a), y = Int(b);
    const int64_t value = op == "add"        ? x + y
                          : op == "subtract" ? x - y
                          : op == "multiply" ? x * y
                          : op == "and"      ? x & y
                          : op == "or"       ? x | y
                                             : x ^ y;
    return RoundTo(type, static_cast<double>(value & 0xffffffff));
  }
  if (op == "add") return a + b;
  if (op == "subtract") return a - b;
  if (op == "multiply") return a * b;
  return a / b;
}

// Whether sums of these values are exact in any order.
bool SumsAreExact(const Tensor& t) {
  if (!IsFloating(t.type)) return true;
  double sum = 0;
  for (double v : t.data) {
    if (!(std::fabs(v) < 1e6) || v != std::floor(v) || (v == 0 && std::signbit(v))) return false;
    sum += std::fabs(v);
  }
  return sum < (t.type == F32 ? 1 << 24 : t.type == F16 ? 1 << 11 : 1 << 8);
}

}  // namespace

double RoundTo(PrimitiveType type, double value) {
  switch (type) {
    case F32:
      return static_cast<float>(value);
    case F16:
      return static_cast<float>(half(static_cast<float>(value)));
    case BF16:
      return static_cast<float>(bfloat16(static_cast<float>(value)));
    case PRED:
      return value != 0;
    case S8:
      return static_cast<int8_t>(Int(value));
    case U8:
      return static_cast<uint8_t>(Int(value));
    case S32:
      return static_cast<int32_t>(Int(value));
    case S4:
      return static_cast<int8_t>(static_cast<uint8_t>(Int(value) << 4)) >> 4;
    default:
      return value;
  }
}

std::string Tensor::TypeText() const {
  return TensorText(dims, GetPrimitiveTypeInfo(type).stablehlo_name);
}

Literal Tensor::ToLiteral() const {
  absl::StatusOr<Literal> literal = Literal::Make(MakeShape(type, dims));
  EXPECT_TRUE(literal.ok()) << literal.status();
  for (int64_t i = 0; i < count(); ++i) {
    const double v = data[i];
    switch (type) {
      case F32:
        literal->SetLinear<float>(i, static_cast<float>(v));
        break;
      case F16:
        literal->SetLinear<half>(i, half(static_cast<float>(v)));
        break;
      case BF16:
        literal->SetLinear<bfloat16>(i, bfloat16(static_cast<float>(v)));
        break;
      case PRED:
        literal->SetLinear<bool>(i, v != 0);
        break;
      case U8:
        literal->SetLinear<uint8_t>(i, static_cast<uint8_t>(v));
        break;
      case S32:
        literal->SetLinear<int32_t>(i, static_cast<int32_t>(v));
        break;
      default:
        literal->SetLinear<int8_t>(i, static_cast<int8_t>(v));
        break;
    }
  }
  return *std::move(literal);
}

std::string Difference(const Tensor& expected, const LiteralBase& actual) {
  const Shape& shape = actual.shape();
  if (shape.element_type() != expected.type ||
      std::vector<int64_t>(shape.dimensions().begin(), shape.dimensions().end()) != expected.dims) {
    return absl::StrCat("expected ", expected.TypeText(), ", got ", shape.ToString());
  }
  for (int64_t i = 0; i < expected.count(); ++i) {
    const std::vector<int64_t> at = Coordinates(i, expected.dims);
    const double want = expected.data[i], got = *actual.GetAsDouble(at);
    const bool same =
        std::isnan(want) ? std::isnan(got) : want == got && std::signbit(want) == std::signbit(got);
    if (!same)
      return absl::StrCat(expected.TypeText(), " at [", List(at), "]: expected ", want, ", got ",
                          got);
  }
  return "";
}

PrimitiveType RandomProgram::RandomType() {
  static constexpr PrimitiveType kTypes[] = {F32, F32, F32, S32, S32, BF16, F16, S8, U8, PRED, S4};
  return kTypes[Below(11)];
}

std::vector<int64_t> RandomProgram::RandomDims() {
  static constexpr int64_t kSizes[] = {1,  2,  3,  4,  5,   7,   8,   16,
                                       31, 33, 64, 65, 100, 130, 257, 1030};
  std::vector<int64_t> dims(Below(5));
  for (int64_t& d : dims) {
    d = kSizes[Below(16)];
    if (Product(dims) > kMaxElements || OneIn(3)) d = 1 + Below(4);
    if (OneIn(60)) d = 0;
  }
  while (Product(dims) > kMaxElements) dims.pop_back();
  return dims;
}

Tensor RandomProgram::RandomTensor(PrimitiveType type, std::vector<int64_t> dims) {
  Tensor t{type, std::move(dims), {}};
  t.data.resize(Product(t.dims));
  const int kind = Below(3);
  for (double& v : t.data) {
    v = Below(7) - 3;
    if (kind == 1 && IsFloating(type)) v = (Below(2000) - 1000) / 64.0;
    if (kind == 2 && type == S32) v = static_cast<int32_t>(random_());
    v = v == 0 ? 0 : RoundTo(type, v);
  }
  return t;
}

RandomProgram::Id RandomProgram::Pick() {
  return scope_[OneIn(2)
                    ? scope_.size() - 1 - Below(std::min<int>(4, static_cast<int>(scope_.size())))
                    : Below(static_cast<int>(scope_.size()))];
}

RandomProgram::Id RandomProgram::Add(const std::string& text, Eval eval) {
  const Id id = static_cast<Id>(env_.size());
  absl::StrAppend(&body_, indent_, Name(id), " = ", text, "\n");
  env_.push_back(eval(env_));
  scope_.push_back(id);
  if (nodes_ != nullptr) nodes_->push_back({id, std::move(eval)});
  return id;
}

RandomProgram::Id RandomProgram::AddOp(const std::string& op, const std::vector<Id>& operands,
                                       const std::string& attributes, const std::string& signature,
                                       Eval eval) {
  const std::string names =
      absl::StrJoin(operands, ", ", [](std::string* out, Id id) { *out += Name(id); });
  return Add(absl::StrCat("\"stablehlo.", op, "\"(", names, ")", attributes.empty() ? "" : " ",
                          attributes, " : ", signature),
             std::move(eval));
}

RandomProgram::Id RandomProgram::Constant(const Tensor& value) {
  // Splats only: the literal of one element.
  const double v = value.data.empty() ? 0 : value.data[0];
  const std::string element = value.type == PRED       ? (v != 0 ? "true" : "false")
                              : IsFloating(value.type) ? absl::StrFormat("%.8f", v)
                                                       : absl::StrCat(Int(v));
  Tensor splat = value;
  std::fill(splat.data.begin(), splat.data.end(), v);
  return Add(absl::StrCat("stablehlo.constant dense<", value.data.empty() ? "" : element,
                          "> : ", value.TypeText()),
             [splat](const auto&) { return splat; });
}

RandomProgram::Id RandomProgram::Like(Id id) {
  std::vector<Id> same;
  for (Id other : scope_) {
    if (at(other).type == at(id).type && at(other).dims == at(id).dims) same.push_back(other);
  }
  if (OneIn(4)) return Constant(RandomTensor(at(id).type, at(id).dims));
  return same[Below(static_cast<int>(same.size()))];
}

RandomProgram::Id RandomProgram::ConvertTo(Id a, PrimitiveType to) {
  Tensor result{to, at(a).dims, {}};
  return AddOp("convert", {a}, "", absl::StrCat("(", at(a).TypeText(), ") -> ", result.TypeText()),
               [a, result](const auto& env) {
                 Tensor r = result;
                 for (double v : env[a].data) {
                   if (IsFloating(env[a].type) && IsInteger(r.type)) {
                     const double low = r.type == S32  ? -2147483648.0
                                        : r.type == S8 ? -128
                                        : r.type == S4 ? -8
                                                       : 0;
                     const double high = r.type == S32  ? 2147483647.0
                                         : r.type == S8 ? 127
                                         : r.type == S4 ? 7
                                                        : 255;
                     v = std::isnan(v) ? 0 : std::trunc(std::clamp(v, low, high)) + 0.0;
                   }
                   r.data.push_back(RoundTo(r.type, v));
                 }
                 return r;
               });
}

RandomProgram::Id RandomProgram::Unary(Id a) {
  const PrimitiveType type = at(a).type;
  static const std::vector<std::string> kFloat = {"negate", "abs", "floor", "ceil", "sqrt"};
  static const std::vector<std::string> kInt = {"negate", "not"};
  static const std::vector<std::string> kPred = {"not"};
  const std::vector<std::string>& ops = IsFloating(type) ? kFloat : type == PRED ? kPred : kInt;
  const std::string op = ops[Below(static_cast<int>(ops.size()))];
  return AddOp(
      op, {a}, "", absl::StrCat("(", at(a).TypeText(), ") -> ", at(a).TypeText()),
      [a, op, type](const auto& env) {
        Tensor r = env[a];
        for (double& v : r.data) {
          if (op == "negate")
            v = IsFloating(type) ? -v : RoundTo(type, static_cast<double>(-Int(v) & 0xffffffff));
          if (op == "not")
            v = type == PRED ? v == 0 : RoundTo(type, static_cast<double>(~Int(v) & 0xffffffff));
          if (op == "abs") v = std::fabs(v);
          if (op == "floor") v = std::floor(v);
          if (op == "ceil") v = std::ceil(v);
          if (op == "sqrt") v = RoundTo(type, std::sqrt(v));
        }
        return r;
      });
}

RandomProgram::Id RandomProgram::Binary(Id a) {
  const Id b = Like(a);
  const PrimitiveType type = at(a).type;
  static const std::vector<std::string> kFloat = {"add",     "subtract", "multiply",
                                                  "maximum", "minimum",  "divide"};
  static const std::vector<std::string> kInt = {"add",     "subtract", "multiply", "maximum",
                                                "minimum", "and",      "or",       "xor"};
  static const std::vector<std::string> kPred = {"and", "or", "xor", "maximum", "minimum"};
  const std::vector<std::string>& ops = IsFloating(type) ? kFloat : type == PRED ? kPred : kInt;
  const std::string op = ops[Below(static_cast<int>(ops.size()))];
  const std::string text = at(a).TypeText();
  return AddOp(op, {a, b}, "", absl::StrCat("(", text, ", ", text, ") -> ", text),
               [a, b, op, type](const auto& env) {
                 Tensor r = env[a];
                 for (int64_t i = 0; i < r.count(); ++i)
                   r.data[i] = RoundTo(type, Apply(op, type, r.data[i], env[b].data[i]));
                 return r;
               });
}

RandomProgram::Id RandomProgram::CompareAndSelect(Id a) {
  const Id b = Like(a);
  const bool scalar = OneIn(4);
  Tensor pred{PRED, at(a).dims, {}};
  Id condition =
      AddOp("compare", {a, b}, "{comparison_direction = #stablehlo<comparison_direction LT>}",
            absl::StrCat("(", at(a).TypeText(), ", ", at(a).TypeText(), ") -> ", pred.TypeText()),
            [a, b, pred](const auto& env) {
              Tensor r = pred;
              for (int64_t i = 0; i < env[a].count(); ++i)
                r.data.push_back(env[a].data[i] < env[b].data[i]);
              return r;
            });
  if (scalar) condition = Constant(RandomTensor(PRED, {}));
  const Id on_true = Pick();
  if (!scalar && at(on_true).dims != at(condition).dims) return condition;
  const Id on_false = Like(on_true);
  const std::string text = at(on_true).TypeText();
  return AddOp("select", {condition, on_true, on_false}, "",
               absl::StrCat("(", at(condition).TypeText(), ", ", text, ", ", text, ") -> ", text),
               [condition, on_true, on_false](const auto& env) {
                 Tensor r = env[on_true];
                 for (int64_t i = 0; i < r.count(); ++i) {
                   if (env[condition].data[env[condition].dims.empty() ? 0 : i] == 0)
                     r.data[i] = env[on_false].data[i];
                 }
                 return r;
               });
}

RandomProgram::Id RandomProgram::Clamp(Id a) {
  const PrimitiveType type = at(a).type;
  if (type == PRED) return Unary(a);
  Tensor low{type, {}, {IsUnsignedInteger(type) ? 1.0 : -2.0}}, high{type, {}, {3}};
  const Id lo = OneIn(2) ? Constant(low) : Like(a);
  const Id hi = Constant(high);
  return AddOp("clamp", {lo, a, hi}, "",
               absl::StrCat("(", at(lo).TypeText(), ", ", at(a).TypeText(), ", ", at(hi).TypeText(),
                            ") -> ", at(a).TypeText()),
               [a, lo, hi](const auto& env) {
                 Tensor r = env[a];
                 for (int64_t i = 0; i < r.count(); ++i) {
                   r.data[i] =
                       Minimum(Maximum(r.data[i], env[lo].data[env[lo].dims.empty() ? 0 : i]),
                               env[hi].data[0]);
                 }
                 return r;
               });
}

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
  if (Product(r.dims) > kMaxElements) return a;
  return AddOp("broadcast_in_dim", {a}, absl::StrCat("{broadcast_dimensions = ", Array64(map), "}"),
               absl::StrCat("(", at(a).TypeText(), ") -> ", r.TypeText()),
               [a, r, map](const auto& env) {
                 Tensor result = r;
                 for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
                   const auto to = Coordinates(i, r.dims);
                   std::vector<int64_t> from;
                   for (size_t j = 0; j < map.size(); ++j)
                     from.push_back(env[a].dims[j] == 1 ? 0 : to[map[j]]);
                   result.data.push_back(env[a].data[Linear(from, env[a].dims)]);
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
                   result.data.push_back(env[a].data[Linear(from, env[a].dims)]);
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
                   result.data.push_back(env[a].data[Linear(from, env[a].dims)]);
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
                   r.data[i] = env[a].data[Linear(from, r.dims)];
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
                 Tensor result = r;
                 result.data = env[a].data;
                 return result;
               });
}

void RandomProgram::RandomOp() {
  const Id a = Pick();
  switch (Below(24)) {
    case 0:
    case 1:
    case 2:
      Unary(a);
      break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
      Binary(a);
      break;
    case 8:
      CompareAndSelect(a);
      break;
    case 9:
      Clamp(a);
      break;
    case 10: {
      PrimitiveType to = RandomType();
      // A wide integer to a narrow float may round twice; that is tested elsewhere.
      if (at(a).type == S32 && (to == F16 || to == BF16)) to = F32;
      ConvertTo(a, to);
      break;
    }
    case 11:
    case 12:
      Broadcast(a);
      break;
    case 13:
      Transpose(a);
      break;
    case 14:
      Slice(a);
      break;
    case 15:
      Reverse(a);
      break;
    case 16:
      Reshape(a);
      break;
    case 17:
      Concatenate(a);
      break;
    case 18:
      Pad(a);
      break;
    case 19:
      Iota();
      break;
    case 20:
    case 21:
      Reduce(a);
      break;
    case 22:
      OneIn(2) ? ArgMax(a) : Dot(a);
      break;
    default:
      if (depth_ < 2) OneIn(2) ? If(a) : While(a);
      break;
  }
}

RandomProgram::RandomProgram(uint32_t seed, int num_ops) : random_(seed * 2654435761u + 1) {
  std::string signature;
  for (int i = 0, n = 2 + Below(4); i < n; ++i) {
    arguments_.push_back(RandomTensor(RandomType(), RandomDims()));
    if (i > 0 && OneIn(2)) arguments_.back() = RandomTensor(arguments_[0].type, arguments_[0].dims);
    absl::StrAppend(&signature, i > 0 ? ", " : "", Name(i), ": ", arguments_[i].TypeText());
    env_.push_back(arguments_[i]);
    scope_.push_back(i);
  }
  while (static_cast<int>(scope_.size()) < num_ops) RandomOp();
  // The last value, and a few others.
  std::vector<Id> returned = {scope_.back()};
  for (int i = Below(4); i > 0; --i) returned.push_back(Pick());
  std::string names, types;
  for (Id id : returned) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", Name(id));
    absl::StrAppend(&types, types.empty() ? "" : ", ", at(id).TypeText());
    results_.push_back(at(id));
  }
  text_ = absl::StrCat("func.func @main(", signature, ") -> (", types, ") {\n", body_, "  return ",
                       names, " : ", types, "\n}\n");
}

RandomProgram::Id RandomProgram::Concatenate(Id a) {
  if (at(a).dims.empty()) return a;
  const int64_t dim = Below(static_cast<int>(at(a).dims.size()));
  std::vector<Id> parts = {a};
  for (int i = Below(3); i >= 0; --i) parts.push_back(OneIn(2) ? Slice(a) : Like(a));
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
  return AddOp(
      "concatenate", fitting, absl::StrCat("{dimension = ", dim, " : i64}"),
      absl::StrCat("(", types, ") -> ", r.TypeText()), [fitting, r, dim](const auto& env) {
        Tensor result = r;
        for (int64_t i = 0, n = Product(r.dims); i < n; ++i) {
          auto from = Coordinates(i, r.dims);
          size_t part = 0;
          while (from[dim] >= env[fitting[part]].dims[dim])
            from[dim] -= env[fitting[part++]].dims[dim];
          result.data.push_back(env[fitting[part]].data[Linear(from, env[fitting[part]].dims)]);
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
  if (Product(r.dims) > kMaxElements) return a;
  const Id value = Constant(RandomTensor(at(a).type, {}));
  return AddOp(
      "pad", {a, value},
      absl::StrCat("{edge_padding_low = ", Array64(low), ", edge_padding_high = ", Array64(high),
                   ", interior_padding = ", Array64(interior), "}"),
      absl::StrCat("(", at(a).TypeText(), ", ", at(value).TypeText(), ") -> ", r.TypeText()),
      [a, value, r, low, interior](const auto& env) {
        Tensor result = r;
        result.data.assign(Product(r.dims), env[value].data[0]);
        for (int64_t i = 0; i < env[a].count(); ++i) {
          auto to = Coordinates(i, env[a].dims);
          bool inside = true;
          for (size_t d = 0; d < to.size(); ++d) {
            to[d] = low[d] + to[d] * (interior[d] + 1);
            inside &= to[d] >= 0 && to[d] < r.dims[d];
          }
          if (inside) result.data[Linear(to, r.dims)] = env[a].data[i];
        }
        return result;
      });
}

RandomProgram::Id RandomProgram::Iota() {
  Tensor r{OneIn(2) ? F32 : S32, RandomDims(), {}};
  if (r.dims.empty()) r.dims = {5};
  const int64_t dim = Below(static_cast<int>(r.dims.size()));
  return Add(absl::StrCat("stablehlo.iota dim = ", dim, " : ", r.TypeText()),
             [r, dim](const auto&) {
               Tensor result = r;
               for (int64_t i = 0, n = Product(r.dims); i < n; ++i)
                 result.data.push_back(static_cast<double>(Coordinates(i, r.dims)[dim]));
               return result;
             });
}

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
  if (at(a).type == PRED || at(a).type == S4 || nodes_ != nullptr || at(a).dims.empty()) return a;
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
  if (Product(b.dims) > kMaxElements || Product(r.dims) > kMaxElements) return a;
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

// SPDX-License-Identifier: Apache-2.0
#include "tests/cpu/random_program.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace pjrt::cpu {

PrimitiveType RandomProgram::RandomType() {
  static constexpr PrimitiveType kTypes[] = {
      F32, F32, F32, F32, S32, S32,    S32,      BF16,     F16,      S8,  U8,  PRED,
      S4,  U4,  S2,  U16, F64, F8E5M2, F8E4M3FN, F4E2M1FN, F6E3M2FN, C64, C64, C128};
  return kTypes[Below(24)];
}

std::vector<int64_t> RandomProgram::RandomDims() {
  static constexpr int64_t kSizes[] = {1,  2,  3,  4,  5,   7,   8,   16,
                                       31, 33, 64, 65, 100, 130, 257, 1030};
  std::vector<int64_t> dims(Below(5));
  for (int64_t& d : dims) {
    d = kSizes[Below(max_elements_ < 1000 ? 10 : 16)];
    if (Product(dims) > max_elements_ || OneIn(3)) d = 1 + Below(4);
    if (OneIn(60)) d = 0;
  }
  while (Product(dims) > max_elements_) dims.pop_back();
  return dims;
}

Tensor RandomProgram::RandomTensor(PrimitiveType type, std::vector<int64_t> dims) {
  Tensor t{type, std::move(dims), {}};
  t.data.resize(Product(t.dims));
  const int kind = Below(3);
  for (double& v : t.data) {
    v = Below(7) - 3;
    if (kind == 1 && (IsFloating(type) || IsComplex(type))) v = (Below(2000) - 1000) / 64.0;
    if (kind == 2 && type == S32) v = static_cast<int32_t>(random_());
    v = v == 0 ? 0 : RoundTo(type, v);
  }
  for (int64_t i = 0; IsComplex(type) && i < t.count(); ++i)
    t.imag.push_back(kind == 1 ? (Below(2000) - 1000) / 64.0 : Below(7) - 3);
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
  const double im = value.imag.empty() ? 0 : value.imag[0];
  const std::string element = IsComplex(value.type)    ? absl::StrFormat("(%.8f, %.8f)", v, im)
                              : value.type == PRED     ? (v != 0 ? "true" : "false")
                              : IsFloating(value.type) ? absl::StrFormat("%.8f", v)
                                                       : absl::StrCat(Int(v));
  Tensor splat = value;
  std::fill(splat.data.begin(), splat.data.end(), v);
  std::fill(splat.imag.begin(), splat.imag.end(), im);
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
                   if ((IsFloating(env[a].type) || IsComplex(env[a].type)) && IsInteger(r.type)) {
                     const bool is_signed = IsSignedInteger(r.type);
                     const double top = std::ldexp(1, BitWidth(r.type) - (is_signed ? 1 : 0));
                     const double low = is_signed ? -top : 0, high = top - 1;
                     v = std::isnan(v) ? 0 : std::trunc(std::clamp(v, low, high)) + 0.0;
                   }
                   r.data.push_back(RoundTo(r.type, v));
                 }
                 for (int64_t i = 0; IsComplex(r.type) && i < r.count(); ++i)
                   r.imag.push_back(IsComplex(env[a].type) ? RoundTo(r.type, env[a].imag[i]) : 0);
                 return r;
               });
}

// Of complex numbers: -z, or the parts taken apart and put together the other way round.
RandomProgram::Id RandomProgram::ComplexUnary(Id a) {
  const PrimitiveType type = at(a).type;
  const std::string text = at(a).TypeText();
  if (OneIn(2)) {
    return AddOp("negate", {a}, "", absl::StrCat("(", text, ") -> ", text), [a](const auto& env) {
      Tensor r = env[a];
      for (std::vector<double>* part : {&r.data, &r.imag}) {
        for (double& v : *part) v = -v;
      }
      return r;
    });
  }
  const Tensor part{type == C64 ? F32 : F64, at(a).dims, {}};
  const std::string signature = absl::StrCat("(", text, ") -> ", part.TypeText());
  const Id real = AddOp("real", {a}, "", signature, [a, part](const auto& env) {
    Tensor r = part;
    r.data = env[a].data;
    return r;
  });
  const Id imag = AddOp("imag", {a}, "", signature, [a, part](const auto& env) {
    Tensor r = part;
    r.data = env[a].imag;
    return r;
  });
  return AddOp("complex", {imag, real}, "",
               absl::StrCat("(", part.TypeText(), ", ", part.TypeText(), ") -> ", text),
               [real, imag, type](const auto& env) {
                 return Tensor{type, env[real].dims, env[imag].data, env[real].data};
               });
}

RandomProgram::Id RandomProgram::Unary(Id a) {
  const PrimitiveType type = at(a).type;
  if (IsComplex(type)) return ComplexUnary(a);
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
  static const std::vector<std::string> kComplex = {"add", "subtract", "multiply"};
  const std::vector<std::string>& ops = IsFloating(type)  ? kFloat
                                        : IsComplex(type) ? kComplex
                                        : type == PRED    ? kPred
                                                          : kInt;
  const std::string op = ops[Below(static_cast<int>(ops.size()))];
  const std::string text = at(a).TypeText();
  return AddOp(op, {a, b}, "", absl::StrCat("(", text, ", ", text, ") -> ", text),
               [a, b, op](const auto& env) {
                 Tensor r = env[a];
                 for (int64_t i = 0; i < r.count(); ++i) Combine(op, &r, i, env[b], i);
                 return r;
               });
}

RandomProgram::Id RandomProgram::CompareAndSelect(Id a) {
  const Id b = Like(a);
  const bool scalar = OneIn(4);
  Tensor pred{PRED, at(a).dims, {}};
  Id condition =
      AddOp("compare", {a, b},
            absl::StrCat("{comparison_direction = #stablehlo<comparison_direction ",
                         IsComplex(at(a).type) ? "NE" : "LT", ">}"),
            absl::StrCat("(", at(a).TypeText(), ", ", at(a).TypeText(), ") -> ", pred.TypeText()),
            [a, b, pred](const auto& env) {
              Tensor r = pred;
              const bool is_complex = IsComplex(env[a].type);
              for (int64_t i = 0; i < env[a].count(); ++i) {
                r.data.push_back(is_complex ? env[a].data[i] != env[b].data[i] ||
                                                  env[a].imag[i] != env[b].imag[i]
                                            : env[a].data[i] < env[b].data[i]);
              }
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
                     r.Put(i, env[on_false], i);
                 }
                 return r;
               });
}

RandomProgram::Id RandomProgram::Clamp(Id a) {
  const PrimitiveType type = at(a).type;
  if (type == PRED || IsComplex(type)) return Unary(a);
  Tensor low{type, {}, {IsUnsignedInteger(type) ? 1.0 : -2.0}},
      high{type, {}, {type == S2 ? 1.0 : 3.0}};
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

void RandomProgram::RandomOp() {
  const Id a = Pick();
  switch (Below(30)) {
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
      // So may a double.
      const bool narrow = IsFloating(to) && BitWidth(to) < 32;
      if (narrow && (BitWidth(at(a).type) > 32 || at(a).type == S32)) to = F32;
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
      OneIn(2) ? ArgMax(a) : OneIn(2) ? Dot(a) : Convolution(a);
      break;
    case 23:
      DynamicSlice(a, OneIn(2));
      break;
    case 24:
    case 25:
      GatherOrScatter(a);
      break;
    case 26:
      Sort(a);
      break;
    case 27:
      ReduceWindow(a);
      break;
    default:
      if (depth_ < 2) OneIn(2) ? If(a) : While(a);
      break;
  }
}

RandomProgram::RandomProgram(uint32_t seed, int num_ops, int64_t max_elements)
    : max_elements_(max_elements), random_(seed * 2654435761u + 1) {
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

}  // namespace pjrt::cpu

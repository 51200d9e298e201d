// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops on constants. Elements are widened, so that four types stand for all: integers
// wrap to their width when they are stored, floats are computed in f64 and rounded once, which for
// the operations here gives the same as computing in the narrower type. A NaN that arithmetic makes
// has a sign and a payload that depend on the machine: such ops are left to the device.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/wide_elements.h"
#include "src/core/ir/reducer.h"
#include "src/core/passes/evaluate.h"

namespace pjrt::ir {
namespace {

// The three forms of an op of one or two operands (`b` is 0 where there is one), null where it has
// none. `width` is the number of bits of the element type; signed values come sign-extended,
// unsigned ones zero-extended, and whatever is above the width in the result is cut off.
struct ElementFunction {
  OpCode code;
  int64_t (*on_signed)(int64_t a, int64_t b, int width);
  uint64_t (*on_unsigned)(uint64_t a, uint64_t b, int width);
  double (*on_float)(double a, double b);
};

int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }
uint64_t Bits(int64_t value) { return static_cast<uint64_t>(value); }
uint64_t LowBits(uint64_t value, int width) {
  return width == 64 ? value : value & ((uint64_t{1} << width) - 1);
}

int64_t DivideSigned(int64_t a, int64_t b, int) {
  if (b == 0) return -1;
  return b == -1 ? Wrapped(uint64_t{0} - Bits(a)) : a / b;
}
int64_t RemainderSigned(int64_t a, int64_t b, int) { return b == 0 ? a : b == -1 ? 0 : a % b; }

uint64_t PowerBits(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return result;
}
int64_t PowerSigned(int64_t base, int64_t exponent, int) {
  if (exponent >= 0) return Wrapped(PowerBits(Bits(base), Bits(exponent)));
  if (base == 1) return 1;
  if (base == -1) return exponent % 2 != 0 ? -1 : 1;
  return 0;
}

uint64_t ShiftLeft(uint64_t a, uint64_t amount, int width) {
  return amount >= static_cast<uint64_t>(width) ? 0 : a << amount;
}
uint64_t ShiftRightLogical(uint64_t a, uint64_t amount, int width) {
  return amount >= static_cast<uint64_t>(width) ? 0 : LowBits(a, width) >> amount;
}
int64_t ShiftRightArithmetic(int64_t a, uint64_t amount, int width) {
  return a >> (amount >= static_cast<uint64_t>(width) ? 63 : static_cast<int>(amount));
}
// `value`'s lowest bits, read as a signed number of that width.
int64_t SignExtended(uint64_t value, int width) {
  return Wrapped(value << (64 - width)) >> (64 - width);
}

int64_t CountLeadingZeros(uint64_t a, int width) {
  int count = 0;
  while (count < width && (a >> (width - 1 - count) & 1) == 0) ++count;
  return count;
}
int64_t CountOnes(uint64_t a) {
  int64_t count = 0;
  for (; a != 0; a &= a - 1) ++count;
  return count;
}

// Of zeros, the maximum is +0 and the minimum -0 if either is. A NaN wins.
double MaximumFloat(double a, double b) {
  if (a != a || b != b) return std::numeric_limits<double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
double MinimumFloat(double a, double b) { return -MaximumFloat(-a, -b); }

double SignFloat(double a) { return a > 0 ? 1 : a < 0 ? -1 : a; }

// Halves to even, whatever the rounding mode of the thread.
double RoundToEven(double a) {
  const double down = std::floor(a);
  const double rest = a - down;
  if (rest < 0.5) return std::copysign(down, a);
  if (rest > 0.5) return std::copysign(down + 1, a);
  return std::copysign(std::fmod(down, 2) == 0 ? down : down + 1, a);
}

constexpr ElementFunction kFunctions[] = {
    {OpCode::kAbs,
     [](int64_t a, int64_t, int) { return a < 0 ? Wrapped(uint64_t{0} - Bits(a)) : a; },
     [](uint64_t a, uint64_t, int) { return a; }, [](double a, double) { return std::fabs(a); }},
    {OpCode::kAdd, [](int64_t a, int64_t b, int) { return Wrapped(Bits(a) + Bits(b)); },
     [](uint64_t a, uint64_t b, int) { return a + b; }, [](double a, double b) { return a + b; }},
    {OpCode::kAnd, [](int64_t a, int64_t b, int) { return a & b; },
     [](uint64_t a, uint64_t b, int) { return a & b; }, nullptr},
    {OpCode::kCeil, nullptr, nullptr, [](double a, double) { return std::ceil(a); }},
    {OpCode::kCountLeadingZeros,
     [](int64_t a, int64_t, int width) { return CountLeadingZeros(Bits(a), width); },
     [](uint64_t a, uint64_t, int width) { return Bits(CountLeadingZeros(a, width)); }, nullptr},
    {OpCode::kDivide, DivideSigned,
     [](uint64_t a, uint64_t b, int) { return b == 0 ? ~uint64_t{0} : a / b; },
     [](double a, double b) { return a / b; }},
    {OpCode::kFloor, nullptr, nullptr, [](double a, double) { return std::floor(a); }},
    {OpCode::kMaximum, [](int64_t a, int64_t b, int) { return a > b ? a : b; },
     [](uint64_t a, uint64_t b, int) { return a > b ? a : b; }, MaximumFloat},
    {OpCode::kMinimum, [](int64_t a, int64_t b, int) { return a < b ? a : b; },
     [](uint64_t a, uint64_t b, int) { return a < b ? a : b; }, MinimumFloat},
    {OpCode::kMultiply, [](int64_t a, int64_t b, int) { return Wrapped(Bits(a) * Bits(b)); },
     [](uint64_t a, uint64_t b, int) { return a * b; }, [](double a, double b) { return a * b; }},
    {OpCode::kNegate, [](int64_t a, int64_t, int) { return Wrapped(uint64_t{0} - Bits(a)); },
     [](uint64_t a, uint64_t, int) { return uint64_t{0} - a; },
     [](double a, double) { return -a; }},
    {OpCode::kNot, [](int64_t a, int64_t, int) { return ~a; },
     [](uint64_t a, uint64_t, int width) { return LowBits(~a, width); }, nullptr},
    {OpCode::kOr, [](int64_t a, int64_t b, int) { return a | b; },
     [](uint64_t a, uint64_t b, int) { return a | b; }, nullptr},
    {OpCode::kPopcnt,
     [](int64_t a, int64_t, int width) { return CountOnes(LowBits(Bits(a), width)); },
     [](uint64_t a, uint64_t, int) { return Bits(CountOnes(a)); }, nullptr},
    {OpCode::kPower, PowerSigned, [](uint64_t a, uint64_t b, int) { return PowerBits(a, b); },
     nullptr},
    {OpCode::kRemainder, RemainderSigned,
     [](uint64_t a, uint64_t b, int) { return b == 0 ? a : a % b; },
     [](double a, double b) { return std::fmod(a, b); }},
    {OpCode::kRoundNearestAfz, nullptr, nullptr, [](double a, double) { return std::round(a); }},
    {OpCode::kRoundNearestEven, nullptr, nullptr, [](double a, double) { return RoundToEven(a); }},
    {OpCode::kShiftLeft,
     [](int64_t a, int64_t b, int width) {
       return Wrapped(ShiftLeft(Bits(a), LowBits(Bits(b), width), width));
     },
     ShiftLeft, nullptr},
    {OpCode::kShiftRightArithmetic,
     [](int64_t a, int64_t b, int width) {
       return ShiftRightArithmetic(a, LowBits(Bits(b), width), width);
     },
     [](uint64_t a, uint64_t b, int width) {
       return Bits(ShiftRightArithmetic(SignExtended(a, width), b, width));
     },
     nullptr},
    {OpCode::kShiftRightLogical,
     [](int64_t a, int64_t b, int width) {
       return Wrapped(ShiftRightLogical(Bits(a), LowBits(Bits(b), width), width));
     },
     ShiftRightLogical, nullptr},
    {OpCode::kSign, [](int64_t a, int64_t, int) { return int64_t{a > 0} - int64_t{a < 0}; },
     [](uint64_t a, uint64_t, int) { return uint64_t{a != 0}; },
     [](double a, double) { return SignFloat(a); }},
    {OpCode::kSqrt, nullptr, nullptr, [](double a, double) { return std::sqrt(a); }},
    {OpCode::kSubtract, [](int64_t a, int64_t b, int) { return Wrapped(Bits(a) - Bits(b)); },
     [](uint64_t a, uint64_t b, int) { return a - b; }, [](double a, double b) { return a - b; }},
    {OpCode::kXor, [](int64_t a, int64_t b, int) { return a ^ b; },
     [](uint64_t a, uint64_t b, int) { return a ^ b; }, nullptr},
};

const ElementFunction* FindFunction(OpCode code) {
  for (const ElementFunction& function : kFunctions) {
    if (function.code == code) return &function;
  }
  return nullptr;
}

int WidthOf(PrimitiveType type) { return type == PRED ? 1 : BitWidth(type); }

// Fills `to` with elements `first` on; all with the one of a splat.
void Load(const ConstantView& from, PrimitiveType type, int64_t first, int64_t count,
          WideBlock& to) {
  const int64_t bytes = ByteWidth(type);
  if (!from.is_splat) return LoadWide(type, from.bytes.data() + first * bytes, count, to);
  WideBlock one;
  LoadWide(type, from.bytes.data(), 1, one);
  to.type = one.type;
  switch (one.type) {
    case WideType::kInt64:
      std::fill_n(to.int64s, count, one.int64s[0]);
      break;
    case WideType::kUint64:
      std::fill_n(to.uint64s, count, one.uint64s[0]);
      break;
    case WideType::kDouble:
      std::fill_n(to.doubles, count, one.doubles[0]);
      break;
    case WideType::kComplex:
      for (int64_t i = 0; i < count; ++i) {
        to.complexes[i][0] = one.complexes[0][0];
        to.complexes[i][1] = one.complexes[0][1];
      }
  }
}

bool HasNan(const WideBlock& block, int64_t count) {
  for (int64_t i = 0; block.type == WideType::kDouble && i < count; ++i) {
    if (block.doubles[i] != block.doubles[i]) return true;
  }
  return false;
}

bool Apply(const ElementFunction& function, const WideBlock& a, const WideBlock& b, int64_t count,
           int width, WideBlock& to) {
  to.type = a.type;
  for (int64_t i = 0; i < count; ++i) {
    switch (a.type) {
      case WideType::kInt64:
        if (function.on_signed == nullptr) return false;
        to.int64s[i] = function.on_signed(a.int64s[i], b.int64s[i], width);
        break;
      case WideType::kUint64:
        if (function.on_unsigned == nullptr) return false;
        to.uint64s[i] = function.on_unsigned(a.uint64s[i], b.uint64s[i], width);
        break;
      case WideType::kDouble:
        if (function.on_float == nullptr) return false;
        to.doubles[i] = function.on_float(a.doubles[i], b.doubles[i]);
        break;
      case WideType::kComplex:
        return false;
    }
  }
  return !HasNan(to, count);
}

// Calls fn(first, count, out) for blocks of the result; `out` is where the first one goes.
template <typename Fn>
bool ForEachBlock(Evaluation& e, const Fn& fn) {
  if (e.AllSplat()) return fn(0, 1, e.AllocateSplat());
  char* out = e.Allocate();
  if (out == nullptr) return false;
  const int64_t count = e.result.element_count();
  for (int64_t first = 0; first < count; first += WideBlock::kSize) {
    const int64_t n = std::min<int64_t>(WideBlock::kSize, count - first);
    if (!fn(first, n, out + first * static_cast<int64_t>(e.element_bytes))) return false;
  }
  return true;
}

// Operands that are scalars beside arrays (select's pred, clamp's limits) count as splats.
void BroadcastScalars(Evaluation& e) {
  for (ConstantView& operand : e.operands) {
    if (operand.type.rank() == 0) operand.is_splat = true;
  }
}

}  // namespace

bool IsEvaluatedElementwise(OpCode code) { return FindFunction(code) != nullptr; }

bool EvaluateElementwise(Evaluation& e) {
  const ElementFunction* function = FindFunction(e.op->opcode());
  const PrimitiveType type = ArithmeticType(e.operands[0].type.element_type());
  const PrimitiveType result = ArithmeticType(e.result.element_type());
  if (type != result || !IsArrayType(type) || e.operands.size() > 2) return false;
  return ForEachBlock(e, [&](int64_t first, int64_t count, char* out) {
    WideBlock a, b, to;
    Load(e.operands[0], type, first, count, a);
    Load(e.operands.back(), type, first, count, b);
    if (!Apply(*function, a, b, count, WidthOf(type), to)) return false;
    StoreWide(to, count, type, out);
    return true;
  });
}

namespace {

// -1, 0, 1 as a is less than, equal to or greater than b; 2 for unordered.
template <typename T>
int Order(T a, T b) {
  return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

bool Holds(ComparisonDirection direction, int order) {
  switch (direction) {
    case ComparisonDirection::kEq:
      return order == 0;
    case ComparisonDirection::kNe:
      return order != 0;
    case ComparisonDirection::kGe:
      return order == 0 || order == 1;
    case ComparisonDirection::kGt:
      return order == 1;
    case ComparisonDirection::kLe:
      return order == 0 || order == -1;
    case ComparisonDirection::kLt:
      return order == -1;
  }
  return false;
}

}  // namespace

bool EvaluateCompare(Evaluation& e) {
  const PrimitiveType type = ArithmeticType(e.operands[0].type.element_type());
  const auto direction = EnumFrom<ComparisonDirection>(e.op->attr("comparison_direction"));
  const auto order_type = EnumFrom<ComparisonType>(e.op->attr("compare_type"));
  if (!IsArrayType(type) || IsComplex(type) || !direction) return false;
  if (IsFloating(type) && order_type == ComparisonType::kTotalOrder) return false;
  return ForEachBlock(e, [&](int64_t first, int64_t count, char* out) {
    WideBlock a, b;
    Load(e.operands[0], type, first, count, a);
    Load(e.operands[1], type, first, count, b);
    for (int64_t i = 0; i < count; ++i) {
      const int order = a.type == WideType::kInt64    ? Order(a.int64s[i], b.int64s[i])
                        : a.type == WideType::kUint64 ? Order(a.uint64s[i], b.uint64s[i])
                                                      : Order(a.doubles[i], b.doubles[i]);
      out[i] = Holds(*direction, order) ? 1 : 0;
    }
    return true;
  });
}

bool EvaluateSelect(Evaluation& e) {
  BroadcastScalars(e);
  return ForEachBlock(e, [&](int64_t first, int64_t count, char* out) {
    const int64_t bytes = static_cast<int64_t>(e.element_bytes);
    const auto element = [&](const ConstantView& view, int64_t i, int64_t width) {
      return view.bytes.data() + (view.is_splat ? 0 : (first + i) * width);
    };
    for (int64_t i = 0; i < count; ++i) {
      const bool pred = *element(e.operands[0], i, 1) != 0;
      std::memcpy(out + i * bytes, element(e.operands[pred ? 1 : 2], i, bytes), e.element_bytes);
    }
    return true;
  });
}

bool EvaluateClamp(Evaluation& e) {
  BroadcastScalars(e);
  const PrimitiveType type = ArithmeticType(e.result.element_type());
  if (!IsArrayType(type) || IsComplex(type)) return false;
  const ElementFunction& maximum = *FindFunction(OpCode::kMaximum);
  const ElementFunction& minimum = *FindFunction(OpCode::kMinimum);
  return ForEachBlock(e, [&](int64_t first, int64_t count, char* out) {
    WideBlock low, x, high, raised, to;
    Load(e.operands[0], type, first, count, low);
    Load(e.operands[1], type, first, count, x);
    Load(e.operands[2], type, first, count, high);
    if (!Apply(maximum, x, low, count, WidthOf(type), raised) ||
        !Apply(minimum, raised, high, count, WidthOf(type), to)) {
      return false;
    }
    StoreWide(to, count, type, out);
    return true;
  });
}

bool EvaluateConvert(Evaluation& e) {
  const PrimitiveType from = ArithmeticType(e.operands[0].type.element_type());
  const PrimitiveType to = ArithmeticType(e.result.element_type());
  if (!IsArrayType(from) || !IsArrayType(to) || (IsComplex(from) && from != to)) return false;
  return ForEachBlock(e, [&](int64_t first, int64_t count, char* out) {
    WideBlock block;
    Load(e.operands[0], from, first, count, block);
    if ((IsFloating(to) || IsComplex(to)) && HasNan(block, count)) return false;
    StoreWide(block, count, to, out);
    return true;
  });
}

// Of one integer array, by a body that is one op on both arguments: any order gives the same.
bool EvaluateReduce(Evaluation& e) {
  const PrimitiveType type = ArithmeticType(e.result.element_type());
  const Block* body = e.op->region()->block();
  if (e.operands.size() != 2 || !(IsInteger(type) || type == PRED) || body == nullptr) return false;
  const Op* const combine = ReducerOp(*body);
  if (combine == nullptr || ArithmeticType(combine->result_type().element_type()) != type)
    return false;
  const ElementFunction& function = *FindFunction(combine->opcode());
  const Type input = e.operands[0].type;
  if (input.element_count() > e.max_elements) return false;
  char* out = e.Allocate();
  if (out == nullptr) return false;
  // Strides of the result along each dimension of the input, 0 along reduced ones.
  const DimList reduced = e.op->IntsAttr("dimensions");
  DimList strides(input.dims().size(), 0);
  int64_t stride = 1;
  for (size_t d = strides.size(); d-- > 0;) {
    if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) != reduced.end()) {
      continue;
    }
    strides[d] = stride;
    stride *= input.dims()[d];
  }
  const int64_t bytes = static_cast<int64_t>(e.element_bytes);
  WideBlock value, sum, to;
  Load(e.operands[1], type, 0, 1, value);
  for (int64_t i = 0; i < e.result.element_count(); ++i) StoreWide(value, 1, type, out + i * bytes);
  for (int64_t i = 0; i < input.element_count(); ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = strides.size(); d-- > 0;) {
      at += rest % input.dims()[d] * strides[d];
      rest /= input.dims()[d];
    }
    Load(e.operands[0], type, i, 1, value);
    LoadWide(type, out + at * bytes, 1, sum);
    if (!Apply(function, sum, value, 1, WidthOf(type), to)) return false;
    StoreWide(to, 1, type, out + at * bytes);
  }
  return true;
}

}  // namespace pjrt::ir

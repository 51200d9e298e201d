// SPDX-License-Identifier: Apache-2.0
//
// Several vectors of f64 side by side, for functions that take their coefficients from tables.
// Processors look only so far ahead in a long chain of dependent instructions: where the tables
// leave registers free, two vectors take less time than one after the other. With AVX2 they never
// do. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLE_GROUPS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLE_GROUPS_INL_H_

#include "src/cpu_device/kernels/doubles-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"

#ifndef PJRT_VECTORS_AT_ONCE
#define PJRT_VECTORS_AT_ONCE 1
#endif

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int kWays = PJRT_VECTORS_AT_ONCE;
#else
constexpr int kWays = 1;
#endif
struct DoubleGroup {
  Doubles v[kWays];
  DoubleGroup() = default;
  PJRT_INLINE_MEMBER DoubleGroup(double x) {  // all elements
    const Doubles all = All(x);
    for (Doubles& each : v) each = all;
  }
};
struct WordGroup {
  Words v[kWays];
  WordGroup() = default;
  PJRT_INLINE_MEMBER WordGroup(uint64_t x) {
    const Words all = AllWords(x);
    for (Words& each : v) each = all;
  }
};
struct MaskGroup {
  Mask v[kWays];
};
constexpr int64_t kLanes = sizeof(DoubleGroup) / sizeof(double);

template <typename R, typename F>
PJRT_INLINE R Each(F f) {
  R r;
  r.v[0] = f(0);
  if constexpr (kWays > 1) r.v[1] = f(1);
  static_assert(kWays <= 2);
  return r;
}
#define PJRT_EACH(R, expression) Each<R>([&](int i) { return expression; })

// The functions of doubles-inl.h.
PJRT_INLINE DoubleGroup operator+(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, a.v[i] + b.v[i]);
}
PJRT_INLINE DoubleGroup operator-(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, a.v[i] - b.v[i]);
}
PJRT_INLINE DoubleGroup operator*(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, a.v[i] * b.v[i]);
}
PJRT_INLINE DoubleGroup operator/(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, a.v[i] / b.v[i]);
}
PJRT_INLINE DoubleGroup operator-(DoubleGroup a) { return PJRT_EACH(DoubleGroup, -a.v[i]); }
PJRT_INLINE WordGroup operator+(WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, Plus(a.v[i], b.v[i]));
}
PJRT_INLINE WordGroup operator-(WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, Minus(a.v[i], b.v[i]));
}
PJRT_INLINE WordGroup operator&(WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, a.v[i] & b.v[i]);
}
PJRT_INLINE WordGroup operator|(WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, a.v[i] | b.v[i]);
}
PJRT_INLINE WordGroup operator^(WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, a.v[i] ^ b.v[i]);
}
PJRT_INLINE WordGroup OrDifferent(WordGroup x, WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, OrDifferent(x.v[i], a.v[i], b.v[i]));
}
PJRT_INLINE WordGroup OrOthers(WordGroup x, WordGroup a, WordGroup b) {
  return PJRT_EACH(WordGroup, OrOthers(x.v[i], a.v[i], b.v[i]));
}
PJRT_INLINE WordGroup ToWords(DoubleGroup x) { return PJRT_EACH(WordGroup, (Words)x.v[i]); }
PJRT_INLINE DoubleGroup ToDoubles(WordGroup x) { return PJRT_EACH(DoubleGroup, (Doubles)x.v[i]); }
PJRT_INLINE DoubleGroup Magnitude(DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, Magnitude(x.v[i]));
}
PJRT_INLINE DoubleGroup Floor(DoubleGroup x) { return PJRT_EACH(DoubleGroup, Floor(x.v[i])); }
PJRT_INLINE DoubleGroup ExponentOf(DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, ExponentOf(x.v[i]));
}
PJRT_INLINE DoubleGroup ExponentOfNormal(DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, ExponentOfNormal(x.v[i]));
}
PJRT_INLINE DoubleGroup MantissaOf(DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, MantissaOf(x.v[i]));
}
PJRT_INLINE MaskGroup IsZeroOrNotFinite(DoubleGroup x) {
  return PJRT_EACH(MaskGroup, IsZeroOrNotFinite(x.v[i]));
}
PJRT_INLINE DoubleGroup Larger(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, Larger(a.v[i], b.v[i]));
}
PJRT_INLINE DoubleGroup Smaller(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, Smaller(a.v[i], b.v[i]));
}
PJRT_INLINE DoubleGroup Fused(DoubleGroup a, DoubleGroup b, DoubleGroup c) {
  return PJRT_EACH(DoubleGroup, Fused(a.v[i], b.v[i], c.v[i]));
}
PJRT_INLINE DoubleGroup FusedLess(DoubleGroup a, DoubleGroup b, DoubleGroup c) {
  return PJRT_EACH(DoubleGroup, FusedLess(a.v[i], b.v[i], c.v[i]));
}
PJRT_INLINE DoubleGroup FusedFrom(DoubleGroup a, DoubleGroup b, DoubleGroup c) {
  return PJRT_EACH(DoubleGroup, FusedFrom(a.v[i], b.v[i], c.v[i]));
}
PJRT_INLINE DoubleGroup RoughInverse(DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, RoughInverse(x.v[i]));
}
PJRT_INLINE DoubleGroup Scaled(DoubleGroup x, DoubleGroup n) {
  return PJRT_EACH(DoubleGroup, Scaled(x.v[i], n.v[i]));
}
PJRT_INLINE DoubleGroup ScaledInside(DoubleGroup x, DoubleGroup n) {
  return PJRT_EACH(DoubleGroup, ScaledInside(x.v[i], n.v[i]));
}
PJRT_INLINE DoubleGroup ScaledByFloor(DoubleGroup x, DoubleGroup n) {
  return PJRT_EACH(DoubleGroup, ScaledByFloor(x.v[i], n.v[i]));
}
PJRT_INLINE DoubleGroup WithSign(DoubleGroup size, DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, WithSign(size.v[i], x.v[i]));
}
PJRT_INLINE DoubleGroup Turned(DoubleGroup x, WordGroup sign) {
  return PJRT_EACH(DoubleGroup, Turned(x.v[i], (Doubles)sign.v[i]));
}
PJRT_INLINE MaskGroup IsNegative(DoubleGroup x) { return PJRT_EACH(MaskGroup, IsNegative(x.v[i])); }
PJRT_INLINE MaskGroup Both(MaskGroup a, MaskGroup b) {
  return PJRT_EACH(MaskGroup, Both(a.v[i], b.v[i]));
}
PJRT_INLINE MaskGroup Either(MaskGroup a, MaskGroup b) {
  return PJRT_EACH(MaskGroup, Either(a.v[i], b.v[i]));
}
PJRT_INLINE DoubleGroup Keep(MaskGroup mask, DoubleGroup a) {
  return PJRT_EACH(DoubleGroup, Keep(mask.v[i], a.v[i]));
}
PJRT_INLINE DoubleGroup Choose(MaskGroup mask, DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, Choose(mask.v[i], a.v[i], b.v[i]));
}
template <int kShift>
PJRT_INLINE WordGroup ShiftedLeft(WordGroup x) {
  return PJRT_EACH(WordGroup, ShiftedLeft<kShift>(x.v[i]));
}
template <int kShift>
PJRT_INLINE WordGroup ShiftedRight(WordGroup x) {
  return PJRT_EACH(WordGroup, ShiftedRight<kShift>(x.v[i]));
}
template <int kPredicate>
PJRT_INLINE MaskGroup Compare(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(MaskGroup, Compare<kPredicate>(a.v[i], b.v[i]));
}
PJRT_INLINE DoubleGroup LargestSize(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, LargestSize(a.v[i], b.v[i]));
}
PJRT_INLINE DoubleGroup LeastSize(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, LeastSize(a.v[i], b.v[i]));
}
PJRT_INLINE DoubleGroup OfLargerSize(DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, OfLargerSize(a.v[i], b.v[i]));
}
PJRT_INLINE DoubleGroup ChooseOpposite(MaskGroup mask, DoubleGroup a, DoubleGroup b) {
  return PJRT_EACH(DoubleGroup, ChooseOpposite(mask.v[i], a.v[i], b.v[i]));
}
PJRT_INLINE DoubleGroup HalfPiIfNegative(MaskGroup mask, DoubleGroup x, DoubleGroup other) {
  return PJRT_EACH(DoubleGroup, HalfPiIfNegative(mask.v[i], x.v[i], other.v[i]));
}
PJRT_INLINE DoubleGroup HalfTurnsOf(MaskGroup mask, DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, HalfTurnsOf(mask.v[i], x.v[i]));
}
PJRT_INLINE DoubleGroup ZeroKept(DoubleGroup value, DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, ZeroKept(value.v[i], x.v[i]));
}
PJRT_INLINE DoubleGroup UnlessZero(DoubleGroup x, DoubleGroup other) {
  return PJRT_EACH(DoubleGroup, UnlessZero(x.v[i], other.v[i]));
}
PJRT_INLINE DoubleGroup ZeroAtZeroAndOne(DoubleGroup value, DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, ZeroAtZeroAndOne(value.v[i], x.v[i]));
}
PJRT_INLINE bool AnyOf(MaskGroup mask) {
  int any = 0;
  for (Mask each : mask.v) any |= Lanes(each);
  return any != 0;
}
template <const auto& kColumns>
struct EntryGroup {
  Entries<kColumns> v[kWays];
  PJRT_INLINE_MEMBER DoubleGroup operator[](int at) const {
    return PJRT_EACH(DoubleGroup, v[i][at]);
  }
};
template <const auto& kColumns>
PJRT_INLINE EntryGroup<kColumns> EntriesAt(WordGroup places) {
  return PJRT_EACH(EntryGroup<kColumns>, EntriesAt<kColumns>(places.v[i]));
}

// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 32.
PJRT_INLINE DoubleGroup ExpSeries(DoubleGroup r, DoubleGroup r2) {
  const DoubleGroup g01 = Fused(r, 0x1.5555555555556p-3, 0.5);
  const DoubleGroup g23 = Fused(r, 0x1.11111110e10a7p-7, 0x1.55555554e9466p-5);
  const DoubleGroup g45 = Fused(r, 0x1.a01b0c2efda80p-13, 0x1.6c17ed4cebd18p-10);
  return Fused(r2, Fused(r2, g45, g23), g01);
}

// exp(x) = 2^floor(n) power (1 + part), by kPowers, for |x| < 2^20. The error is 2^-57.
struct TableExp {
  DoubleGroup n, power, part, part_low;  // part_low: what rounding part loses
  WordGroup k;                           // the last bits are those of 16 n
};
PJRT_INLINE TableExp ExpByTable(DoubleGroup x) {
  // log(2) / 16 in two parts, of which the first has 36 bits.
  constexpr double kStep = 0x1.62e42fefap-5, kStepLow = 0x1.cf79abc9e3b3ap-44;
  const DoubleGroup shifted = Fused(x, 0x1.71547652b82fep+4, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift;
  const auto powers = EntriesAt<kPowers>(ToWords(shifted));
  const DoubleGroup most = FusedLess(k, kStep, x), r = FusedLess(k, kStepLow, most);
  const DoubleGroup lost = FusedLess(k, kStepLow, most - r), r2 = r * r;
  const DoubleGroup more = Fused(r2, ExpSeries(r, r2), powers[1]), part = r + more;
  return {k * 0x1p-4, powers[0], part, ((r - part) + more) + lost, ToWords(shifted)};
}

PJRT_INLINE DoubleGroup LoadGroup(const double* from) {
  return PJRT_EACH(DoubleGroup, LoadDoubles(from + i * kDoubles));
}
PJRT_INLINE void StoreGroup(double* to, DoubleGroup x) {
  for (int i = 0; i < kWays; ++i) StoreDoubles(to + i * kDoubles, x.v[i]);
}

// The results for arguments beyond Function::kLargest are wrong, and Function::RunRare replaces
// them, one at a time.
template <typename Function, bool kRare>
PJRT_INLINE void RunDoubles(double* to, const double* from) {
  DoubleGroup x;
  __builtin_memcpy(&x, from, sizeof(x));
  const DoubleGroup value = Function::Run(x);
  __builtin_memcpy(to, &value, sizeof(value));
  if constexpr (kRare) {
    if (__builtin_expect(!AnyOf(Compare<_CMP_LT_OQ>(DoubleGroup(Function::kLargest), Magnitude(x))),
                         1))
      return;
    double each[kLanes];
    __builtin_memcpy(each, &x, sizeof(x));
    for (int64_t i = 0; i < kLanes; ++i) {
      if (each[i] > Function::kLargest || each[i] < -Function::kLargest) {
        to[i] = Function::RunRare(each[i]);
      }
    }
  }
}
// The last elements go with zeros.
template <typename Function, bool kRare = false>
void DoublesLoop(void* dst, const void* a, const void*, const void* c, int64_t n) {
  double* const d = static_cast<double*>(dst);
  const double* const x = static_cast<const double*>(a);
  int64_t i = 0;
  const Beside& beside = BesideOf(c);
  for (; i + kLanes <= n; i += kLanes) {
    RunDoubles<Function, kRare>(d + i, x + i);
    GoOn<sizeof(DoubleGroup)>(beside);
  }
  if (i == n) return;
  double rest[kLanes] = {};
  __builtin_memcpy(rest, x + i, (n - i) * sizeof(double));
  RunDoubles<Function, kRare>(rest, rest);
  __builtin_memcpy(d + i, rest, (n - i) * sizeof(double));
}

// What a function keeps of each group from one step to the next.
struct Kept {
  double* at;
  PJRT_INLINE_MEMBER void Put(int i, DoubleGroup x) const { StoreGroup(at + i * kLanes, x); }
  PJRT_INLINE_MEMBER DoubleGroup operator[](int i) const { return LoadGroup(at + i * kLanes); }
};
// Function::End of groups of which some have arguments beyond Function::kLargest.
template <typename Function>
__attribute__((noinline)) void EndWithRare(double* d, const double* x, double* kept,
                                           int64_t groups) {
  for (int64_t i = 0; i < groups; ++i) {
    double each[kLanes];
    __builtin_memcpy(each, x + i * kLanes, sizeof(each));
    StoreGroup(d + i * kLanes,
               Function::End(LoadGroup(x + i * kLanes), Kept{kept + i * Function::kKept * kLanes}));
    for (int64_t j = 0; j < kLanes; ++j) {
      if (__builtin_fabs(each[j]) > Function::kLargest)
        d[i * kLanes + j] = Function::RunRare(each[j]);
    }
  }
}
// A function in steps, each of them for several groups: of short loops more iterations overlap than
// of a long one. Function::Begin keeps Function::kKept groups, Function::Go, where it has one, goes
// on with them and Function::End gives the result. What is beside goes on in the steps before that.
template <typename Function, bool kRare>
PJRT_INLINE void RunInSteps(double* to, const double* from, int64_t groups, const Beside& beside) {
  constexpr int64_t kTogether = 128 / kLanes, kStride = Function::kKept * kLanes;
  alignas(64) double kept[kTogether * kStride];
  for (int64_t first = 0; first < groups; first += kTogether) {
    const int64_t count = groups - first < kTogether ? groups - first : kTogether;
    const double* const x = from + first * kLanes;
    double* const d = to + first * kLanes;
    DoubleGroup largest = 0.0;
    for (int64_t i = 0; i < count; ++i) {
      const DoubleGroup each = LoadGroup(x + i * kLanes);
      if constexpr (kRare) largest = LargestSize(largest, each);
      Function::Begin(each, Kept{kept + i * kStride});
      if (Function::kSteps == 2 || i % 2 == 0) GoOn<sizeof(DoubleGroup)>(beside);
    }
    if constexpr (Function::kSteps > 2)
      for (int64_t i = 0; i < count; ++i) {
        Function::Go(Kept{kept + i * kStride});
        if (i % 2 != 0) GoOn<sizeof(DoubleGroup)>(beside);
      }
    if constexpr (kRare) {
      if (__builtin_expect(AnyOf(Compare<_CMP_LT_OQ>(Function::kLargest, largest)), 0)) {
        EndWithRare<Function>(d, x, kept, count);
        continue;
      }
    }
    for (int64_t i = 0; i < count; ++i) {
      StoreGroup(d + i * kLanes,
                 Function::End(LoadGroup(x + i * kLanes), Kept{kept + i * kStride}));
    }
  }
}
template <typename Function, bool kRare = false>
void LoopInSteps(void* dst, const void* a, const void*, const void* c, int64_t n) {
  double* const d = static_cast<double*>(dst);
  const double* const x = static_cast<const double*>(a);
  const int64_t groups = n / kLanes, i = groups * kLanes;
  RunInSteps<Function, kRare>(d, x, groups, BesideOf(c));
  if (i == n) return;
  double rest[kLanes] = {};
  __builtin_memcpy(rest, x + i, (n - i) * sizeof(double));
  RunInSteps<Function, kRare>(rest, rest, 1, kNothingBeside);
  __builtin_memcpy(d + i, rest, (n - i) * sizeof(double));
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLE_GROUPS_INL_H_

// SPDX-License-Identifier: Apache-2.0
//
// Several vectors of f64 side by side, for functions that take their coefficients from tables.
// Processors look only so far ahead in a long chain of dependent instructions: where the tables
// leave registers free, two vectors take less time than one after the other. With AVX2 they never
// do. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLE_GROUPS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLE_GROUPS_INL_H_

#include "src/cpu_device/kernels/doubles-inl.h"

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
};
struct MaskGroup {
  Mask v[kWays];
};
struct PlaceGroup {
  Places v[kWays];
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
PJRT_INLINE WordGroup operator+(WordGroup a, Words b) { return PJRT_EACH(WordGroup, a.v[i] + b); }
PJRT_INLINE WordGroup ToWords(DoubleGroup x) { return PJRT_EACH(WordGroup, (Words)x.v[i]); }
PJRT_INLINE DoubleGroup ToDoubles(WordGroup x) { return PJRT_EACH(DoubleGroup, (Doubles)x.v[i]); }
PJRT_INLINE DoubleGroup Magnitude(DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, Magnitude(x.v[i]));
}
PJRT_INLINE DoubleGroup Floor(DoubleGroup x) { return PJRT_EACH(DoubleGroup, Floor(x.v[i])); }
PJRT_INLINE DoubleGroup ExponentOf(DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, ExponentOf(x.v[i]));
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
PJRT_INLINE DoubleGroup Scaled(DoubleGroup x, DoubleGroup n) {
  return PJRT_EACH(DoubleGroup, Scaled(x.v[i], n.v[i]));
}
PJRT_INLINE DoubleGroup ScaledInside(DoubleGroup x, DoubleGroup n) {
  return PJRT_EACH(DoubleGroup, ScaledInside(x.v[i], n.v[i]));
}
PJRT_INLINE DoubleGroup WithSign(DoubleGroup size, DoubleGroup x) {
  return PJRT_EACH(DoubleGroup, WithSign(size.v[i], x.v[i]));
}
PJRT_INLINE DoubleGroup Turned(DoubleGroup x, WordGroup sign) {
  return PJRT_EACH(DoubleGroup, Turned(x.v[i], (Doubles)sign.v[i]));
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
PJRT_INLINE bool AnyOf(MaskGroup mask) {
  int any = 0;
  for (Mask each : mask.v) any |= Lanes(each);
  return any != 0;
}
PJRT_INLINE PlaceGroup PlacesOf(WordGroup x) { return PJRT_EACH(PlaceGroup, PlacesOf(x.v[i])); }
PJRT_INLINE DoubleGroup Fetch(const Table& table, const PlaceGroup& places) {
  return PJRT_EACH(DoubleGroup, Fetch(table, places.v[i]));
}
PJRT_INLINE DoubleGroup FetchOfFour(const Table& table, const PlaceGroup& places) {
  return PJRT_EACH(DoubleGroup, FetchOfFour(table, places.v[i]));
}

// A column for each of kCount coefficients of functions by pieces, with an entry for each piece.
template <int kCount>
struct Columns {
  Table column[kCount];
};

#if defined(__AVX512F__)
// The entries of one piece for each element.
template <int kCount>
struct Entries {
  const Columns<kCount>& columns;
  PlaceGroup places;
  PJRT_INLINE_MEMBER DoubleGroup operator[](int i) const {
    return Fetch(columns.column[i], places);
  }
};
template <int kCount, const Columns<kCount>& kColumns>
PJRT_INLINE Entries<kCount> EntriesAt(WordGroup places) {
  return {kColumns, PlacesOf(places)};
}
#else
// With a row for each piece: to read rows and turn them takes three instructions for each column,
// and Fetch takes seven.
template <int kCount>
struct Rows {
  alignas(64) double row[kTableEntries][kCount + kCount % 2] = {};
  constexpr explicit Rows(const Columns<kCount>& columns) {
    for (int i = 0; i < kCount; ++i) {
      for (int j = 0; j < kTableEntries; ++j) row[j][i] = columns.column[i].entry[j];
    }
  }
};
template <int kCount, const Columns<kCount>& kColumns>
constexpr Rows<kCount> kRows = Rows<kCount>(kColumns);
template <int kCount>
struct Entries {
  DoubleGroup column[kCount + 1];
  PJRT_INLINE_MEMBER DoubleGroup operator[](int i) const { return column[i]; }
};
template <int kCount, const Columns<kCount>& kColumns>
PJRT_INLINE Entries<kCount> EntriesAt(WordGroup places) {
  static_assert(kWays == 1);
  const auto& rows = kRows<kCount, kColumns>.row;
  const __m256i last = _mm256_and_si256(places.v[0], _mm256_set1_epi64x(kTableEntries - 1));
  const double* const row[] = {
      rows[_mm256_extract_epi64(last, 0)], rows[_mm256_extract_epi64(last, 1)],
      rows[_mm256_extract_epi64(last, 2)], rows[_mm256_extract_epi64(last, 3)]};
  Entries<kCount> entries;
#pragma GCC unroll 16
  for (int i = 0; i < kCount; i += 2) {
    const Doubles even = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(row[0] + i)),
                                              _mm_load_pd(row[2] + i), 1);
    const Doubles odd = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_load_pd(row[1] + i)),
                                             _mm_load_pd(row[3] + i), 1);
    entries.column[i].v[0] = _mm256_unpacklo_pd(even, odd);
    entries.column[i + 1].v[0] = _mm256_unpackhi_pd(even, odd);
  }
  return entries;
}
#endif

// exp(x) = 2^floor(n) power (1 + part), from tables of 2^(j / 16) and of what their entries lost,
// over them; x + tail for |x| < 2^20 and a small tail. The error is 2^-57.
struct TableExp {
  DoubleGroup n, power, part;
};
constexpr Table kPower = {
    {0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
     0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
     0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
     0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0}};
constexpr Table kPowerRest = {
    {0, 0x1.79aa65d837b6dp-54, -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54, 0x1.34d754db0abb6p-55,
     0x1.59f48a72a4c6dp-55, 0x1.690cebb7aafb0p-56, 0x1.063e1e21c5409p-54, -0x1.3b3efbf5e2228p-54,
     -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55, 0x1.1affc2b91ce27p-56, 0x1.c1a7792cb3387p-55,
     0x1.36eae30af0cb3p-56, 0x1.4a385a63d07a7p-56, -0x1.ff7128fd391f0p-55}};
PJRT_INLINE TableExp ExpByTable(DoubleGroup x, DoubleGroup tail) {
  // log(2) / 16 in two parts, of which the first has 36 bits.
  constexpr double kStep = 0x1.62e42fefap-5, kStepLow = 0x1.cf79abc9e3b3ap-44;
  const DoubleGroup shifted = Fused(x, 0x1.71547652b82fep+4, kIntegerShift);
  const DoubleGroup k = shifted - kIntegerShift;
  const PlaceGroup places = PlacesOf(ToWords(shifted));
  const DoubleGroup r = FusedLess(k, kStepLow, FusedLess(k, kStep, x)) + tail;
  const DoubleGroup r2 = r * r;
  const DoubleGroup g01 = Fused(r, 0x1.5555555555556p-3, 0.5);
  const DoubleGroup g23 = Fused(r, 0x1.11111110e10a7p-7, 0x1.55555554e9466p-5);
  const DoubleGroup g45 = Fused(r, 0x1.a01b0c2efda80p-13, 0x1.6c17ed4cebd18p-10);
  const DoubleGroup g = Fused(r2, Fused(r2, g45, g23), g01);
  return {k * 0x1p-4, Fetch(kPower, places), r + Fused(r2, g, Fetch(kPowerRest, places))};
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
void DoublesLoop(void* dst, const void* a, const void*, const void*, int64_t n) {
  double* const d = static_cast<double*>(dst);
  const double* const x = static_cast<const double*>(a);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) RunDoubles<Function, kRare>(d + i, x + i);
  if (i == n) return;
  double rest[kLanes] = {};
  __builtin_memcpy(rest, x + i, (n - i) * sizeof(double));
  RunDoubles<Function, kRare>(rest, rest);
  __builtin_memcpy(d + i, rest, (n - i) * sizeof(double));
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_DOUBLE_GROUPS_INL_H_

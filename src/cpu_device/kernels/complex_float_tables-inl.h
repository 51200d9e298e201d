// SPDX-License-Identifier: Apache-2.0
//
// Tables of f32 numbers of which permutations fetch entries for all elements of a vector. See
// level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOAT_TABLES_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOAT_TABLES_INL_H_

#include "src/cpu_device/kernels/complex_floats-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Tables that are asked for the same entries: FetchEntries<kTable>(places), by the last bits of
// places.
template <int kNumber, int kNumberOfEntries>
struct FloatColumns {
  static constexpr int kCount = kNumber, kEntries = kNumberOfEntries;
  alignas(64) float column[kCount][kEntries];
};
template <int kCount>
struct FloatEntries {
  Floats entry[kCount];
  PJRT_INLINE_MEMBER Floats operator[](int i) const { return entry[i]; }
};
#if defined(__AVX512F__)
PJRT_INLINE FloatBits Plus32(FloatBits a, FloatBits b) { return _mm512_add_epi32(a, b); }
PJRT_INLINE Floats FetchFloats(const float (&table)[32], FloatBits places) {
  return _mm512_permutex2var_ps(_mm512_load_ps(table), places, _mm512_load_ps(table + 16));
}
template <const auto& kTable>
PJRT_INLINE FloatEntries<kTable.kCount> FetchEntries(FloatBits places) {
  FloatEntries<kTable.kCount> result;
  for (int i = 0; i < kTable.kCount; ++i) result.entry[i] = FetchFloats(kTable.column[i], places);
  return result;
}
PJRT_INLINE Floats Turned(Floats x, Floats sign) {
  return (Floats)_mm512_ternarylogic_epi32((__m512i)x, (__m512i)sign, _mm512_set1_epi32(1 << 31),
                                           0x78);
}
#else
PJRT_INLINE FloatBits Plus32(FloatBits a, FloatBits b) { return _mm256_add_epi32(a, b); }
// Eighths of a table, each exclusive or those whose numbers have a part of its bits: a bit of a
// place then adds one of two, which takes less than choosing between both.
template <int kCount, int kEntries>
struct TableEighths {
  alignas(32) uint32_t bits[kCount][kEntries] = {};
  constexpr explicit TableEighths(const FloatColumns<kCount, kEntries>& table) {
    for (int i = 0; i < kCount; ++i) {
      for (int j = 0; j < kEntries; ++j) {
        for (int part = 0; part <= j / 8; ++part) {
          if ((part & ~(j / 8)) != 0) continue;
          bits[i][j] ^= __builtin_bit_cast(uint32_t, table.column[i][part * 8 + j % 8]);
        }
      }
    }
  }
};
template <const auto& kTable>
constexpr TableEighths kTableEighths = TableEighths(kTable);
template <const auto& kTable>
PJRT_INLINE FloatEntries<kTable.kCount> FetchEntries(FloatBits places) {
  const FloatBits odd = _mm256_srai_epi32(_mm256_slli_epi32(places, 28), 31);
  const FloatBits upper = _mm256_srai_epi32(_mm256_slli_epi32(places, 27), 31);
  FloatEntries<kTable.kCount> result;
  for (int i = 0; i < kTable.kCount; ++i) {
    const auto* eighths = reinterpret_cast<const __m256i*>(kTableEighths<kTable>.bits[i]);
    const auto at = [&](int k) { return _mm256_permutevar8x32_epi32(eighths[k], places); };
    FloatBits x = _mm256_xor_si256(at(0), _mm256_and_si256(at(1), odd));
    if constexpr (kTable.kEntries == 32) {
      const FloatBits more = _mm256_xor_si256(at(2), _mm256_and_si256(at(3), odd));
      x = _mm256_xor_si256(x, _mm256_and_si256(more, upper));
    }
    result.entry[i] = (Floats)x;
  }
  return result;
}
PJRT_INLINE Floats Turned(Floats x, Floats sign) {
  return _mm256_xor_ps(x, _mm256_and_ps(sign, AllFloats(-0.0f)));
}
#endif

// What moves the integer next to a number below 2^22 into the low bits.
constexpr float kFloatShift = 0x1.8p+23f;

// 2^(i/32) as the bits of which i << 18 is taken away, and what that lacks over it.
constexpr FloatColumns<2, 32> kFloatPowers = [] {
  FloatColumns<2, 32> table = {};
  for (int i = 0; i < 32; ++i) {
    const double power = kPowers.column[0].entry[i / 2] * (i % 2 != 0 ? 0x1.059b0d31585744p+0 : 1);
    const float high = static_cast<float>(power);
    const uint32_t bits = __builtin_bit_cast(uint32_t, high) - (static_cast<uint32_t>(i) << 18);
    table.column[0][i] = __builtin_bit_cast(float, bits);
    table.column[1][i] = static_cast<float>((power - high) / high);
  }
  return table;
}();

// Of angles beside i pi/16: what they are beyond that, in a unit, and sines and cosines that are
// f32 numbers but for 2^-32. The zero in the first place is -0. AVX2 has those of half a turn, and
// finds signs.
#if defined(__AVX512F__)
constexpr int kAngleEntries = 32;
#else
constexpr int kAngleEntries = 16;
#endif
constexpr FloatColumns<3, kAngleEntries> MakeFloatAngles(double unit) {
  constexpr float kOffset[] = {0, 0x1.16dp-10f, 0x1.4b54p-12f, 0x1.bcd4p-11f, -0x1.b142p-10f};
  constexpr float kSine[] = {-0.0f, 0x1.91ae5ep-3f, 0x1.882abp-2f, 0x1.1cd024p-1f, 0x1.697098p-1f};
  constexpr float kCosine[] = {1, 0x1.f60e38p-1f, 0x1.d8f6e2p-1f, 0x1.a9789p-1f, 0x1.6aa2f4p-1f};
  FloatColumns<3, kAngleEntries> table = {};
  for (int i = 0; i < kAngleEntries; ++i) {
    const int eighth = i % 8;
    const bool mirrored = eighth > 4;
    const int at = mirrored ? 8 - eighth : eighth;
    const float sine = mirrored ? kCosine[at] : kSine[at];
    const float cosine = mirrored ? kSine[at] : kCosine[at];
    const bool turned = i / 8 % 2 != 0, opposite = i >= 16;
    const float first = turned ? cosine : sine, second = turned ? -sine : cosine;
    const double offset = kOffset[at] / unit;
    table.column[0][i] = static_cast<float>(mirrored ? -offset : offset);
    table.column[1][i] = opposite ? -first : first;
    table.column[2][i] = opposite ? -second : second;
  }
  return table;
}
template <const auto& kTable>
PJRT_INLINE FloatEntries<3> FetchAngle(FloatBits places) {
  const FloatEntries<3> entries = FetchEntries<kTable>(places);
#if defined(__AVX512F__)
  return entries;
#else
  const Floats opposite = (Floats)_mm256_slli_epi32(places, 27);
  return {entries[0], Turned(entries[1], opposite), Turned(entries[2], opposite)};
#endif
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOAT_TABLES_INL_H_

// SPDX-License-Identifier: Apache-2.0
//
// Between memory types and compute types: floats narrower than 32 bits, and integers narrower than
// a byte. All without branches, so that compilers vectorise the loops; f16 by instruction where
// there is one.
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/bf16_vectors-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/narrow-inl.h"
#include "src/cpu_device/kernels/small_float-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// float8_e8m0fnu, the powers of two: an f32 exponent alone, rounded to nearest, halves upwards.
PJRT_INLINE float DecodeE8m0(uint32_t bits) {
  const uint32_t wide = bits == 0 ? 0x00400000u : bits << 23;
  return BitCast<float>(bits == 0xff ? 0x7fc00000u : wide);
}
PJRT_INLINE uint32_t EncodeE8m0(float x) {
  const uint32_t from = ToBits(x);
  const uint32_t magnitude = from & 0x7fffffffu;
  const uint32_t normal = (magnitude + 0x400000u) >> 23;
  const uint32_t denormal =
      magnitude >= 0x00600000u ? 1 : 0;  // from halfway between 2^-127 and 2^-126
  const uint32_t rounded = magnitude < 0x00800000u ? denormal : normal;
  const uint32_t positive = rounded > 0xfe ? 0xffu : rounded;
  return from > 0x80000000u ? 0xffu : positive;
}

template <class Format>
PJRT_INLINE float Decode(uint32_t bits) {
  if constexpr (std::is_same_v<Format, float8_e8m0fnu>) {
    return DecodeE8m0(bits);
  } else {
    return DecodeIeeeLike<Format>(bits);
  }
}
template <class Format>
PJRT_INLINE uint32_t Encode(float x) {
  if constexpr (std::is_same_v<Format, float8_e8m0fnu>) {
    return EncodeE8m0(x);
  } else {
    return EncodeIeeeLike<Format>(x);
  }
}

template <class Format>
void Load(void* dst, const void* src, int64_t n) {
  float* const d = static_cast<float*>(dst);
  const typename Format::Storage* const s = static_cast<const typename Format::Storage*>(src);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) d[i] = Decode<Format>(s[i]);
}
template <class Format>
void Store(void* dst, const void* src, int64_t n) {
  const float* const s = static_cast<const float*>(src);
  StoreNarrow(
      static_cast<typename Format::Storage*>(dst),
      n, [s](int64_t i) __attribute__((always_inline)) { return Encode<Format>(s[i]); });
}
template <class Format>
void RoundTo(void* dst, const void* src, int64_t n) {
  float* const d = static_cast<float*>(dst);
  const float* const s = static_cast<const float*>(src);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) d[i] = Decode<Format>(Encode<Format>(s[i]));
}

template <class Format>
void SetFloat(BlockKernels* k, PrimitiveType type) {
  k->load[type] = Load<Format>;
  k->store[type] = Store<Format>;
  k->round_to[type] = RoundTo<Format>;
}

#if defined(__F16C__)
void LoadHalf(void* dst, const void* src, int64_t n) {
  LoadFloats<half>(static_cast<float*>(dst), static_cast<const uint16_t*>(src), n);
}
void StoreHalf(void* dst, const void* src, int64_t n) {
  StoreFloats<half>(static_cast<uint16_t*>(dst), static_cast<const float*>(src), n);
}
void RoundToHalf(void* dst, const void* src, int64_t n) {
  float* const d = static_cast<float*>(dst);
  const float* const s = static_cast<const float*>(src);
  int64_t i = 0;
  for (; i + kHalves <= n; i += kHalves) {
    Singles singles;
    __builtin_memcpy(&singles, s + i, sizeof(singles));
    singles = SinglesOf(HalvesOf(singles));
    __builtin_memcpy(d + i, &singles, sizeof(singles));
  }
  for (; i < n; ++i) d[i] = _cvtsh_ss(_cvtss_sh(s[i], 0));
}
#endif

void StoreBf16(void* dst, const void* src, int64_t n) {
  uint16_t* const d = static_cast<uint16_t*>(dst);
  const float* const s = static_cast<const float*>(src);
  int64_t i = 0;
  for (; i + 2 * bf16::kLanes <= n; i += 2 * bf16::kLanes) {
    bf16::StoreTwo(d + i, LoadVector<float>(s + i), LoadVector<float>(s + i + bf16::kLanes));
  }
  Store<bfloat16>(d + i, s + i, n - i);
}

// Integers of kBits in a byte: a store keeps the low bits and extends them again. Loads change
// nothing.
template <int kBits>
struct WrapSigned {
  PJRT_INLINE uint8_t Run(uint8_t x) {
    constexpr uint8_t kSign = 1 << (kBits - 1), kMask = (1 << kBits) - 1;
    return static_cast<uint8_t>(((x & kMask) ^ kSign) - kSign);
  }
};
template <int kBits>
struct WrapUnsigned {
  PJRT_INLINE uint8_t Run(uint8_t x) { return x & ((1 << kBits) - 1); }
};
template <class Wrap>
void WrapLoop(void* dst, const void* src, int64_t n) {
  uint8_t* const d = static_cast<uint8_t*>(dst);
  const uint8_t* const s = static_cast<const uint8_t*>(src);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) d[i] = Wrap::Run(s[i]);
}
template <class Wrap>
void SetInteger(BlockKernels* k, PrimitiveType type) {
  k->store[type] = WrapLoop<Wrap>;
  k->round_to[type] = WrapLoop<Wrap>;
}

}  // namespace

void FillSmallTypes(BlockKernels* k) {
#if defined(__F16C__)
  k->load[F16] = LoadHalf;
  k->store[F16] = StoreHalf;
  k->round_to[F16] = RoundToHalf;
#else
  SetFloat<half>(k, F16);
#endif
  SetFloat<bfloat16>(k, BF16);
  k->store[BF16] = StoreBf16;
  SetFloat<float8_e5m2>(k, F8E5M2);
  SetFloat<float8_e4m3>(k, F8E4M3);
  SetFloat<float8_e3m4>(k, F8E3M4);
  SetFloat<float8_e4m3fn>(k, F8E4M3FN);
  SetFloat<float8_e4m3fnuz>(k, F8E4M3FNUZ);
  SetFloat<float8_e5m2fnuz>(k, F8E5M2FNUZ);
  SetFloat<float8_e4m3b11fnuz>(k, F8E4M3B11FNUZ);
  SetFloat<float8_e8m0fnu>(k, F8E8M0FNU);
  SetFloat<float6_e2m3fn>(k, F6E2M3FN);
  SetFloat<float6_e3m2fn>(k, F6E3M2FN);
  SetFloat<float4_e2m1fn>(k, F4E2M1FN);
  SetInteger<WrapSigned<1>>(k, S1);
  SetInteger<WrapSigned<2>>(k, S2);
  SetInteger<WrapSigned<4>>(k, S4);
  SetInteger<WrapUnsigned<1>>(k, U1);
  SetInteger<WrapUnsigned<2>>(k, U2);
  SetInteger<WrapUnsigned<4>>(k, U4);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

// SPDX-License-Identifier: Apache-2.0
//
// Between f16 in memory and vectors of f32, as BlockKernels::load, store and round_to. See
// level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_F16_VECTORS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_F16_VECTORS_INL_H_

#include "src/cpu_device/kernels/mask-inl.h"
#include "src/cpu_device/kernels/small_float-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::f16 {

constexpr int64_t kLanes = PJRT_VECTOR_BYTES / 4;

#if defined(__F16C__)
PJRT_INLINE Vector<float> Widened(Halves x) { return (Vector<float>)SinglesOf(x); }
PJRT_INLINE Halves Narrowed(Vector<float> x) { return HalvesOf((Singles)x); }
#else
typedef uint16_t Halves __attribute__((vector_size(PJRT_VECTOR_BYTES / 2)));
PJRT_INLINE Vector<float> Widened(Halves x) {
  Vector<float> wide;
  for (int64_t i = 0; i < kLanes; ++i) wide[i] = DecodeIeeeLike<half>(x[i]);
  return wide;
}
PJRT_INLINE Halves Narrowed(Vector<float> x) {
  Halves narrow;
  for (int64_t i = 0; i < kLanes; ++i)
    narrow[i] = static_cast<uint16_t>(EncodeIeeeLike<half>(x[i]));
  return narrow;
}
#endif

PJRT_INLINE Vector<float> Load(const uint16_t* from) {
  Halves halves;
  __builtin_memcpy(&halves, from, sizeof(halves));
  return Widened(halves);
}
PJRT_INLINE void Store(uint16_t* to, Vector<float> x) {
  const Halves halves = Narrowed(x);
  __builtin_memcpy(to, &halves, sizeof(halves));
}
PJRT_INLINE Vector<float> Round(Vector<float> x) { return Widened(Narrowed(x)); }

#if defined(__AVX512BW__)
// The elements whose bit is in `used`.
PJRT_INLINE Vector<float> LoadPart(const uint16_t* from, uint64_t used) {
  return Widened(_mm256_maskz_loadu_epi16(static_cast<__mmask16>(used), from));
}
PJRT_INLINE void StorePart(uint16_t* to, Vector<float> x, uint64_t used) {
  _mm256_mask_storeu_epi16(to, static_cast<__mmask16>(used), Narrowed(x));
}
#endif

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::f16

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_F16_VECTORS_INL_H_

// SPDX-License-Identifier: Apache-2.0
//
// Inverse square roots of vectors of f64. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_INVERSE_ROOT_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_INVERSE_ROOT_INL_H_

#include "src/cpu_device/kernels/mask-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL::f64 {

using Numbers = Vector<double>;

#if defined(__AVX512F__)
PJRT_INLINE Numbers Fused(Numbers a, Numbers b, Numbers c) { return _mm512_fmadd_pd(a, b, c); }
PJRT_INLINE Numbers FusedLess(Numbers a, Numbers b, Numbers c) { return _mm512_fnmadd_pd(a, b, c); }
PJRT_INLINE Numbers Root(Numbers x) { return _mm512_sqrt_pd(x); }
// Those that are anything but positive numbers that are not denormals.
using Lanes = __mmask8;
PJRT_INLINE Lanes Special(Numbers x) { return _mm512_fpclass_pd_mask(x, 0xff); }
PJRT_INLINE bool Any(Lanes lanes) { return lanes != 0; }
PJRT_INLINE Numbers Choose(Lanes lanes, Numbers a, Numbers b) {
  return _mm512_mask_mov_pd(b, lanes, a);
}
// The inverse roots of those, `y` elsewhere. An estimate is exact but of denormals.
PJRT_INLINE Numbers Mended(Numbers y, Lanes special, Numbers x) {
  y = _mm512_mask_rsqrt14_pd(y, special, x);
  const Lanes denormal = _mm512_fpclass_pd_mask(x, 0x20);
  return Any(denormal) ? Choose(denormal, Broadcast(1.0) / Root(x), y) : y;
}
#else
PJRT_INLINE Numbers Fused(Numbers a, Numbers b, Numbers c) { return _mm256_fmadd_pd(a, b, c); }
PJRT_INLINE Numbers FusedLess(Numbers a, Numbers b, Numbers c) { return _mm256_fnmadd_pd(a, b, c); }
PJRT_INLINE Numbers Root(Numbers x) { return _mm256_sqrt_pd(x); }
using Lanes = __m256d;
PJRT_INLINE Lanes Special(Numbers x) {
  return _mm256_or_pd(_mm256_cmp_pd(x, Broadcast(0x1p-1022), _CMP_NGE_UQ),
                      _mm256_cmp_pd(x, Broadcast(__builtin_inf()), _CMP_EQ_OQ));
}
PJRT_INLINE bool Any(Lanes lanes) { return _mm256_movemask_pd(lanes) != 0; }
PJRT_INLINE Numbers Choose(Lanes lanes, Numbers a, Numbers b) {
  return _mm256_blendv_pd(b, a, lanes);
}
PJRT_INLINE Numbers Mended(Numbers y, Lanes special, Numbers x) {
  return Choose(special, Broadcast(1.0) / Root(x), y);
}
#endif

// 1 / sqrt(x) within 0.5001 ULP, from bits and not from an instruction's estimate, in which
// processors differ. Halving the exponent's bits gives 4 bits, and polynomials of 1 - x y^2 then 21
// and all of them. A root and a quotient, which remain for denormals, take 1.6 ns an element on an
// Emerald Rapids, and this 0.43.
PJRT_INLINE Numbers InverseRoot(Numbers x) {
  const auto all = [](double c) { return Broadcast(c); };
  using Bits = Vector<uint64_t>;
  const Lanes special = Special(x);
  const Numbers plain = Choose(special, all(1), x);  // denormals below would take their time
  const Numbers start = (Numbers)(Bits{} + 0x5fe50b50c7b537a9 - ((Bits)plain >> 1));
  const Numbers d = FusedLess(plain * start, start, all(1));
  Numbers p = Fused(d, all(0x1.08455861f18a7p-1), all(0x1.5331032b9ef17p-2));
  p = Fused(d, Fused(d, p, all(0x1.01f96c7455c26p-1)), all(0x1.fff01d6974ba1p-1));
  const Numbers y = start * p;
  // x y in two parts, so that nothing of the last d is lost.
  const Numbers product = plain * y, lost = Fused(plain, y, -product);
  const Numbers rest = FusedLess(lost, y, FusedLess(product, y, all(1)));
  const Numbers value = Fused(y * rest, Fused(rest, all(0.375), all(0.5)), y);
  return __builtin_expect(Any(special), 0) ? Mended(value, special, x) : value;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::f64
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_INVERSE_ROOT_INL_H_

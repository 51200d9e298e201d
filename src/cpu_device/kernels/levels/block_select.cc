// SPDX-License-Identifier: Apache-2.0
//
// Select: bits are chosen, never read as numbers, so one function serves all types of a size.
#include <cstring>

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <typename T>
PJRT_INLINE T Choose(uint8_t chosen, T on_true, T on_false) {
  return chosen != 0 ? on_true : on_false;
}
PJRT_INLINE Bits128 Choose(uint8_t chosen, Bits128 on_true, Bits128 on_false) {
  return {chosen != 0 ? on_true.low : on_false.low, chosen != 0 ? on_true.high : on_false.high};
}

// kScalarTrue, kScalarFalse: b or c is one element.
template <typename T, bool kScalarTrue, bool kScalarFalse>
void Select(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  if (n <= 0) return;
  T* const d = static_cast<T*>(dst);
  const uint8_t* const p = static_cast<const uint8_t*>(a);
  const T* const x = static_cast<const T*>(b);
  const T* const y = static_cast<const T*>(c);
  const T x0 = x[0], y0 = y[0];
  ForEach<uint8_t>(
      n, [&](int64_t i) __attribute__((always_inline)) {
        d[i] = Choose(p[i], kScalarTrue ? x0 : x[i], kScalarFalse ? y0 : y[i]);
      });
}

template <typename T>
void SelectScalarPredicate(void* dst, const void* a, const void* b, const void* c, int64_t n) {
  if (n <= 0) return;
  const void* const chosen = *static_cast<const uint8_t*>(a) != 0 ? b : c;
  if (chosen != dst) memcpy(dst, chosen, static_cast<size_t>(n) * sizeof(T));
}

template <typename T>
void Fill(BlockKernels* k) {
  for (int type = 0; type < kNumCTypes; ++type) {
    if (kCTypeSize[type] != static_cast<int>(sizeof(T))) continue;
    const CType t = static_cast<CType>(type);
    Entry(k, BlockOp::kSelect, t) = Select<T, false, false>;
    Entry(k, BlockOp::kSelect, t, Scalars::kFirst) = SelectScalarPredicate<T>;
    Entry(k, BlockOp::kSelect, t, Scalars::kSecond) = Select<T, true, false>;
    Entry(k, BlockOp::kSelect, t, Scalars::kThird) = Select<T, false, true>;
    Entry(k, BlockOp::kSelect, t, Scalars::kBoth) = Select<T, true, true>;
  }
}

}  // namespace

void FillSelect(BlockKernels* k) {
  Fill<uint8_t>(k);
  Fill<uint16_t>(k);
  Fill<uint32_t>(k);
  Fill<uint64_t>(k);
  Fill<Bits128>(k);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

// SPDX-License-Identifier: Apache-2.0
//
// Running sums and the like along lines whose elements are neighbours.
//
// The order of operations is that of the definition, so a line is one long chain of dependent
// operations; a vector of lines is folded at once, by squares that are transposed in registers on
// the way in and on the way out.
#include "src/cpu_device/kernels/fold-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"
#include "src/cpu_device/kernels/window-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// As many lines as a vector has elements, as many elements of each.
template <class Op, typename T>
struct Square {
  using Vector = Lanes<T, PJRT_VECTOR_BYTES>;
  static constexpr int kSide = Vector::kSide;

  template <bool kReverse>
  PJRT_INLINE typename Vector::Row Scan(T* out, const T* in, int64_t stride,
                                        typename Vector::Row running) {
    typename Vector::Row rows[kSide];
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) __builtin_memcpy(&rows[i], in + i * stride, sizeof(rows[i]));
    TransposeRows<T, PJRT_VECTOR_BYTES>(rows);
#pragma GCC unroll 16
    for (int k = 0; k < kSide; ++k) {
      const int i = kReverse ? kSide - 1 - k : k;
      rows[i] = running = Op::Apply(running, rows[i]);
    }
    TransposeRows<T, PJRT_VECTOR_BYTES>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) __builtin_memcpy(out + i * stride, &rows[i], sizeof(rows[i]));
    return running;
  }
};

// One line.
template <class Op, typename T>
void ScanLine(T* out, const T* in, T* running, int64_t n, bool is_reverse) {
  T value = *running;
  if (is_reverse) {
    for (int64_t i = n; i-- > 0;) out[i] = value = Op::Run(value, in[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = value = Op::Run(value, in[i]);
  }
  *running = value;
}

// As many lines as a vector has elements.
template <class Op, typename T, bool kReverse>
void ScanVector(T* out, const T* in, int64_t stride, T* running, int64_t n) {
  constexpr int kSide = Square<Op, T>::kSide;
  const int64_t whole = n / kSide * kSide;
  const auto scan_rest = [&] {
    for (int l = 0; l < kSide; ++l) {
      ScanLine<Op>(out + l * stride + whole, in + l * stride + whole, running + l, n - whole,
                   kReverse);
    }
  };
  if (kReverse) scan_rest();
  typename Square<Op, T>::Vector::Row values;
  __builtin_memcpy(&values, running, sizeof(values));
  for (int64_t i = 0; i < whole; i += kSide) {
    const int64_t at = kReverse ? whole - kSide - i : i;
    values = Square<Op, T>::template Scan<kReverse>(out + at, in + at, stride, values);
  }
  __builtin_memcpy(running, &values, sizeof(values));
  if (!kReverse) scan_rest();
}

template <class Op, typename T>
void ScanRows(void* out, const void* in, int64_t stride, void* running, int64_t lines, int64_t n,
              bool is_reverse) {
  constexpr int kSide = Square<Op, T>::kSide;
  T* d = static_cast<T*>(out);
  const T* s = static_cast<const T*>(in);
  T* r = static_cast<T*>(running);
  int64_t l = 0;
  for (; l + kSide <= lines; l += kSide) {
    (is_reverse ? ScanVector<Op, T, true>
                : ScanVector<Op, T, false>)(d + l * stride, s + l * stride, stride, r + l, n);
  }
  for (; l < lines; ++l) ScanLine<Op>(d + l * stride, s + l * stride, r + l, n, is_reverse);
}

struct Scans {
  WindowKernels* kernels;
  template <typename T, class Op, typename R>
  PJRT_INLINE_MEMBER void Set(Monoid monoid) const {
    kernels->scan_rows[static_cast<int>(monoid)][static_cast<int>(kCType<T>)] = ScanRows<Op, R>;
  }
};

}  // namespace

void FillScans(WindowKernels* kernels) {
  const Scans scans{kernels};
  ForEachFoldOfWidth<int32_t, uint32_t>(scans);
  ForEachFoldOfWidth<int64_t, uint64_t>(scans);
  ForEachFoldOfFloat<float>(scans);
  ForEachFoldOfFloat<double>(scans);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <complex>
#include <type_traits>

#include "src/cpu_device/kernels/linalg_dense.h"
#include "src/cpu_device/kernels/linalg_solve.h"

namespace pjrt::cpu {
namespace {

template <typename T>
T MultiplyAdd(T x, T y, T sum) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(x) * static_cast<U>(y) + static_cast<U>(sum));
  } else {
    return sum + Times(x, y);
  }
}

}  // namespace

template <typename T, typename Index>
void CsrTimesDense(int64_t rows, int64_t inner, int64_t columns, int64_t entries, const T* data,
                   const Index* row_starts, const Index* indices, const T* dense, T* out) {
  std::fill_n(out, rows * columns, T(0));
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t begin = std::max<int64_t>(row_starts[i], 0);
    const int64_t end = std::min<int64_t>(row_starts[i + 1], entries);
    T* const to = out + i * columns;
    for (int64_t p = begin; p < end; ++p) {
      if (indices[p] < 0 || indices[p] >= inner) continue;
      const T* const from = dense + indices[p] * columns;
      for (int64_t j = 0; j < columns; ++j) to[j] = MultiplyAdd(data[p], from[j], to[j]);
    }
  }
}

#define PJRT_INSTANTIATE_(T)                                                                \
  template void CsrTimesDense(int64_t, int64_t, int64_t, int64_t, const T*, const int32_t*, \
                              const int32_t*, const T*, T*);                                \
  template void CsrTimesDense(int64_t, int64_t, int64_t, int64_t, const T*, const int64_t*, \
                              const int64_t*, const T*, T*);
PJRT_INSTANTIATE_(int32_t)
PJRT_INSTANTIATE_(int64_t)
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu

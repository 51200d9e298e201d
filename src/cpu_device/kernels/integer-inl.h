// SPDX-License-Identifier: Apache-2.0
//
// Integer operations that blocks and reductions share. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_INTEGER_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_INTEGER_INL_H_

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::integer {

// Add, Subtract, Multiply: on unsigned types alone, where wrapping around is defined. Products of
// 16-bit numbers are formed in 32 bits, since uint16_t would be promoted to a signed int.
struct Add {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Subtract {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a - b);
  }
};
struct Multiply {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    if constexpr (sizeof(T) < 4) {
      return static_cast<T>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
    } else {
      return a * b;
    }
  }
};

struct Maximum {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return a > b ? a : b;
  }
};
struct Minimum {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return a < b ? a : b;
  }
};

struct And {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// The quotient cut towards zero, for b not 0 and, on signed types, not -1. Up to 16 bits through
// float and s32 through double, which vectors can divide: the exact quotient is an integer or
// further from the next one than the rounding error.
template <typename T>
PJRT_INLINE T SafeQuotient(T a, T b) {
  if constexpr (sizeof(T) <= 2) {
    return static_cast<T>(
        static_cast<int32_t>(static_cast<float>(int32_t{a}) / static_cast<float>(int32_t{b})));
  } else if constexpr (std::is_same_v<T, int32_t>) {
    return static_cast<int32_t>(static_cast<double>(a) / static_cast<double>(b));
  } else {
    return static_cast<T>(a / b);
  }
}

struct Divide {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    if constexpr (std::is_signed_v<T>) {
      using U = UnsignedOf<T>;
      const bool safe = b != 0 && b != -1;
      const T quotient = SafeQuotient<T>(a, safe ? b : T{1});
      const T negated = static_cast<T>(U{0} - static_cast<U>(a));
      return b == -1 ? negated : b == 0 ? T{-1} : quotient;
    } else {
      const T quotient = SafeQuotient<T>(a, b != 0 ? b : T{1});
      return b == 0 ? static_cast<T>(~T{0}) : quotient;
    }
  }
};

struct Remainder {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    using U = UnsignedOf<T>;
    bool safe = b != 0;
    if constexpr (std::is_signed_v<T>) safe = safe && b != -1;
    const T divisor = safe ? b : T{1};
    const U product =
        Multiply::Run(static_cast<U>(SafeQuotient<T>(a, divisor)), static_cast<U>(divisor));
    const T rest = static_cast<T>(static_cast<U>(a) - product);
    return b == 0 ? a : rest;  // a divisor of -1 or 1 leaves 0
  }
};

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::integer

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_INTEGER_INL_H_

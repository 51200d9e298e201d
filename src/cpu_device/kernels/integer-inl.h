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

#if defined(__AVX512DQ__)
// The quotient cut to an integer, b not 0. The first estimate, with a reciprocal that is too small
// by a few units in the last place, is never too large and leaves less than b + 2^15; the second
// leaves less than 2 b.
PJRT_INLINE uint64_t QuotientInDouble(uint64_t a, uint64_t b) {
  const double reciprocal = (1 - 0x1p-50) / static_cast<double>(b);
  const uint64_t most = static_cast<uint64_t>(static_cast<double>(a) * reciprocal);
  const uint64_t left = a - most * b;
  const uint64_t more = static_cast<uint64_t>(static_cast<double>(left) * reciprocal);
  return most + more + (left - more * b >= b ? 1 : 0);
}
#endif

// The quotient cut towards zero, for b not 0 and, on signed types, not -1. Through floats of more
// digits, which vectors can divide: the exact quotient is an integer or further from the next one
// than the rounding error. 64 bits where vectors can convert them.
template <typename T>
PJRT_INLINE T SafeQuotient(T a, T b) {
  if constexpr (sizeof(T) <= 2) {
    return static_cast<T>(
        static_cast<int32_t>(static_cast<float>(int32_t{a}) / static_cast<float>(int32_t{b})));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<T>(static_cast<double>(a) / static_cast<double>(b));
  } else {
#if defined(__AVX512DQ__)
    const uint64_t a_sign = std::is_signed_v<T> && a < 0 ? ~uint64_t{0} : 0;
    const uint64_t b_sign = std::is_signed_v<T> && b < 0 ? ~uint64_t{0} : 0;
    const uint64_t quotient = QuotientInDouble((static_cast<uint64_t>(a) ^ a_sign) - a_sign,
                                               (static_cast<uint64_t>(b) ^ b_sign) - b_sign);
    const uint64_t sign = a_sign ^ b_sign;
    return static_cast<T>((quotient ^ sign) - sign);
#else
    return static_cast<T>(a / b);
#endif
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

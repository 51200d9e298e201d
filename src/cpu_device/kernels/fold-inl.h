// SPDX-License-Identifier: Apache-2.0
//
// The monoids as operations on elements and on vectors of them. See level-inl.h for who may include
// it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_INL_H_

#include "src/cpu_device/kernels/complex-inl.h"
#include "src/cpu_device/kernels/float-inl.h"
#include "src/cpu_device/kernels/integer-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

#if defined(__AVX512DQ__)
// The larger, or the smaller, of each two numbers, none of which is a NaN; -0 is less than 0.
constexpr int kSmaller = 4, kLarger = 5;
template <int kWhich, typename T, typename V>
PJRT_INLINE V ChosenNumbers(V a, V b) {
  if constexpr (std::is_same_v<T, float>) {
    return (V)_mm512_range_ps((__m512)a, (__m512)b, kWhich);
  } else {
    return (V)_mm512_range_pd((__m512d)a, (__m512d)b, kWhich);
  }
}
#endif

// Operations on vectors are those on elements, written for GNU vectors, which have no conversion to
// bool.
struct VectorAdd {
  template <typename V>
  PJRT_INLINE V Apply(V a, V b) {
    return a + b;
  }
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct VectorMultiply {
  template <typename V>
  PJRT_INLINE V Apply(V a, V b) {
    return a * b;
  }
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return integer::Multiply::Run(a, b);
    } else {
      return a * b;
    }
  }
};
struct VectorAnd {
  template <typename V>
  PJRT_INLINE V Apply(V a, V b) {
    return a & b;
  }
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct VectorOr {
  template <typename V>
  PJRT_INLINE V Apply(V a, V b) {
    return a | b;
  }
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct VectorXor {
  template <typename V>
  PJRT_INLINE V Apply(V a, V b) {
    return a ^ b;
  }
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
template <typename T>
struct VectorMaximum {
  template <typename V>
  PJRT_INLINE V Apply(V a, V b) {
    if constexpr (std::is_floating_point_v<T>) {
      return floats::MaximumOf<T>(a, b);
    } else {
      return a > b ? a : b;
    }
  }
#if defined(__AVX512DQ__)
  template <typename V>
  PJRT_INLINE V ApplyToNumbers(V a, V b) {
    return ChosenNumbers<kLarger, T>(a, b);
  }
#endif
  PJRT_INLINE T Run(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return floats::Maximum::Run(a, b);
    } else {
      return integer::Maximum::Run(a, b);
    }
  }
};
template <typename T>
struct VectorMinimum {
  template <typename V>
  PJRT_INLINE V Apply(V a, V b) {
    if constexpr (std::is_floating_point_v<T>) {
      return floats::MinimumOf<T>(a, b);
    } else {
      return a < b ? a : b;
    }
  }
#if defined(__AVX512DQ__)
  template <typename V>
  PJRT_INLINE V ApplyToNumbers(V a, V b) {
    return ChosenNumbers<kSmaller, T>(a, b);
  }
#endif
  PJRT_INLINE T Run(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return floats::Minimum::Run(a, b);
    } else {
      return integer::Minimum::Run(a, b);
    }
  }
};

template <typename T>
inline constexpr bool IsComplexType = false;
template <typename R>
inline constexpr bool IsComplexType<Complex<R>> = true;

// Calls table.Set<T, Op, R>(monoid) for each element type T and each monoid that it has, where Op
// on R gives the bits of the monoid on T: integers of a width share additions, and bytes serve for
// predicates. Complex numbers fit no vector: their Op has Run only.
template <typename T, typename U, class Table>
PJRT_INLINE void ForEachFoldOfInteger(const Table& table) {
  table.template Set<T, VectorAdd, U>(Monoid::kAdd);
  table.template Set<T, VectorMultiply, U>(Monoid::kMultiply);
  table.template Set<T, VectorMaximum<T>, T>(Monoid::kMaximum);
  table.template Set<T, VectorMinimum<T>, T>(Monoid::kMinimum);
  table.template Set<T, VectorAnd, U>(Monoid::kAnd);
  table.template Set<T, VectorOr, U>(Monoid::kOr);
  table.template Set<T, VectorXor, U>(Monoid::kXor);
}
template <typename S, typename U, class Table>
PJRT_INLINE void ForEachFoldOfWidth(const Table& table) {
  ForEachFoldOfInteger<S, U>(table);
  ForEachFoldOfInteger<U, U>(table);
}
template <typename T, class Table>
PJRT_INLINE void ForEachFoldOfFloat(const Table& table) {
  table.template Set<T, VectorAdd, T>(Monoid::kAdd);
  table.template Set<T, VectorMultiply, T>(Monoid::kMultiply);
  table.template Set<T, VectorMaximum<T>, T>(Monoid::kMaximum);
  table.template Set<T, VectorMinimum<T>, T>(Monoid::kMinimum);
}
template <typename T, class Table>
PJRT_INLINE void ForEachFoldOfComplex(const Table& table) {
  table.template Set<T, complexes::Add, T>(Monoid::kAdd);
  table.template Set<T, complexes::Multiply, T>(Monoid::kMultiply);
  table.template Set<T, complexes::Maximum, T>(Monoid::kMaximum);
  table.template Set<T, complexes::Minimum, T>(Monoid::kMinimum);
}
template <class Table>
PJRT_INLINE void ForEachFold(const Table& table) {
  ForEachFoldOfWidth<int8_t, uint8_t>(table);
  ForEachFoldOfWidth<int16_t, uint16_t>(table);
  ForEachFoldOfWidth<int32_t, uint32_t>(table);
  ForEachFoldOfWidth<int64_t, uint64_t>(table);
  ForEachFoldOfFloat<float>(table);
  ForEachFoldOfFloat<double>(table);
  ForEachFoldOfComplex<C64>(table);
  ForEachFoldOfComplex<C128>(table);
  table.template Set<Pred, VectorOr, uint8_t>(Monoid::kAdd);
  table.template Set<Pred, VectorOr, uint8_t>(Monoid::kMaximum);
  table.template Set<Pred, VectorOr, uint8_t>(Monoid::kOr);
  table.template Set<Pred, VectorAnd, uint8_t>(Monoid::kMultiply);
  table.template Set<Pred, VectorAnd, uint8_t>(Monoid::kMinimum);
  table.template Set<Pred, VectorAnd, uint8_t>(Monoid::kAnd);
  table.template Set<Pred, VectorXor, uint8_t>(Monoid::kXor);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_FOLD_INL_H_

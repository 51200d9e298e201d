// SPDX-License-Identifier: Apache-2.0
//
// Memory that holds a T at any address: kernels that move elements join what lies side by side to
// wider ones, which then need not be aligned to their size.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_ANYWHERE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_ANYWHERE_H_

namespace pjrt::cpu {

template <typename T>
struct AnywhereOf {
  typedef T Type __attribute__((aligned(1), may_alias));
};
// Not to be deduced or passed as a template's argument, which would lose the alignment.
template <typename T>
using Anywhere = typename AnywhereOf<T>::Type;

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_ANYWHERE_H_

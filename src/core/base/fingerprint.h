// SPDX-License-Identifier: Apache-2.0
//
// A number for some bytes that is the same in every process and on every machine, unlike
// absl::Hash.
#ifndef PJRT_CORE_BASE_FINGERPRINT_H_
#define PJRT_CORE_BASE_FINGERPRINT_H_

#include <initializer_list>
#include <string>

#include "absl/strings/string_view.h"

namespace pjrt {

// 16 hexadecimal digits for these texts, in order; {"a", "bc"} and {"ab", "c"} differ. Some 2 ns
// for 8 bytes. Not for texts that somebody chooses to collide.
std::string Fingerprint(std::initializer_list<absl::string_view> texts);

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_FINGERPRINT_H_

// SPDX-License-Identifier: Apache-2.0
//
// Running programs on clients of several numbers of threads and kernel levels, and comparing bits.
#ifndef PJRT_TESTS_TOOL_BITS_UTIL_H_
#define PJRT_TESTS_TOOL_BITS_UTIL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/literal.h"
#include "pjrt/client.h"

namespace pjrt::tool {

using Results = std::vector<std::shared_ptr<Literal>>;

// Null when the machine lacks the kernel level `isa`; "" is the widest that it has.
std::unique_ptr<PjRtClient> ClientWith(int threads, const std::string& isa = "");

// The kernel levels that any machine of this library has.
inline constexpr absl::string_view kLevels[] = {"baseline", "avx2", "avx512", "neon"};

// Arrays for the parameters of the program: numbers from -3 to 3, from 0 on of unsigned types.
// UNIMPLEMENTED for a parameter that is no array.
absl::StatusOr<std::vector<Literal>> SmallArguments(absl::string_view program);

// Compiles and runs once.
absl::StatusOr<Results> RunOn(PjRtClient* client, const std::string& program,
                              absl::Span<const Literal> arguments);

bool SameBits(const Results& a, const Results& b);

}  // namespace pjrt::tool

#endif  // PJRT_TESTS_TOOL_BITS_UTIL_H_

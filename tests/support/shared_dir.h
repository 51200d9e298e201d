// SPDX-License-Identifier: Apache-2.0
//
// What tests learn from the machine they run on. ctest sets the variables; a test run by hand may
// set them too. A test that needs something that is not there says so and skips:
//
//   std::optional<std::string> shared = SharedDir();
//   if (!shared) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
#ifndef PJRT_TESTS_SUPPORT_SHARED_DIR_H_
#define PJRT_TESTS_SUPPORT_SHARED_DIR_H_

#include <optional>
#include <string>

namespace pjrt::testing {

// The folder with corpus/ and workloads/: PJRT_SHARED_DIR, a CMake cache variable and then a
// variable of the environment. nullopt when unset or not a folder.
std::optional<std::string> SharedDir();

// The root of the source tree, for files that tests read from it: PJRT_SOURCE_DIR.
std::optional<std::string> SourceDir();

// The pjrt command that this build made: PJRT_TOOL.
std::optional<std::string> ToolPath();

}  // namespace pjrt::testing

#endif  // PJRT_TESTS_SUPPORT_SHARED_DIR_H_

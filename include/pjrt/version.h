// SPDX-License-Identifier: Apache-2.0
//
// The version of this library and of StableHLO that it speaks.
//
// The macros and constants are those of the headers that a program was compiled with;
// LibraryVersion() is that of the library that it runs with. They differ only when a shared library
// was replaced underneath a program.
#ifndef PJRT_VERSION_H_
#define PJRT_VERSION_H_

#define PJRT_VERSION_MAJOR 0
#define PJRT_VERSION_MINOR 1
#define PJRT_VERSION_PATCH 0

namespace pjrt {

// A version number: major.minor.patch. Ordered, comparable, usable in constant expressions.
struct Version {
  int major_number;
  int minor_number;
  int patch_number;

  friend constexpr bool operator==(const Version& a, const Version& b) {
    return a.major_number == b.major_number && a.minor_number == b.minor_number &&
           a.patch_number == b.patch_number;
  }
  friend constexpr bool operator!=(const Version& a, const Version& b) { return !(a == b); }
  friend constexpr bool operator<(const Version& a, const Version& b) {
    if (a.major_number != b.major_number) return a.major_number < b.major_number;
    if (a.minor_number != b.minor_number) return a.minor_number < b.minor_number;
    return a.patch_number < b.patch_number;
  }
};

// The version of these headers.
inline constexpr Version kVersion = {PJRT_VERSION_MAJOR, PJRT_VERSION_MINOR, PJRT_VERSION_PATCH};

// The StableHLO specification whose operations, types and rules the front end knows.
inline constexpr Version kStablehloVersion = {1, 20, 0};

// The version of the library linked in, for comparison with kVersion. Thread safe; never fails.
Version LibraryVersion();

// The same as text, for example "0.1.0". The string lives as long as the program.
const char* LibraryVersionString();

}  // namespace pjrt

#endif  // PJRT_VERSION_H_

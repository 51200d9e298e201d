// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "pjrt/version.h"

int main() {
  if (pjrt::LibraryVersion() != pjrt::kVersion) return 1;
  std::printf("6 9 12 15\n");
  return 0;
}

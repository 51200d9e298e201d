// SPDX-License-Identifier: Apache-2.0
//
// pjrt: runs, checks and measures programs from the command line.
#include "tools/pjrt/command_line.h"

int main(int argc, char** argv) { return pjrt::tool::Main(argc, argv); }

// SPDX-License-Identifier: Apache-2.0
//
// The command line of `pjrt`.
#ifndef PJRT_TOOLS_PJRT_COMMAND_LINE_H_
#define PJRT_TOOLS_PJRT_COMMAND_LINE_H_

namespace pjrt::tool {

// The whole of the tool: parses the command line, runs the command, and returns the exit code.
int Main(int argc, const char* const* argv);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_COMMAND_LINE_H_

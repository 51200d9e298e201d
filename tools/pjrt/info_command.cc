// SPDX-License-Identifier: Apache-2.0
//
// pjrt info: what this build is and what it computes with here.
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "fmt/format.h"
#include "pjrt/device.h"
#include "pjrt/device_description.h"
#include "pjrt/ids.h"
#include "pjrt/version.h"
#include "tools/pjrt/command.h"

namespace pjrt::tool {
namespace {

// "Intel(R) Xeon(R) ..."; empty where the system doesn't say.
std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!absl::StartsWith(line, "model name")) continue;
    const size_t colon = line.find(':');
    if (colon != std::string::npos) {
      return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
    }
  }
  return std::string();
}

std::string ToString(Version version) {
  return absl::StrCat(version.major_number, ".", version.minor_number, ".", version.patch_number);
}

}  // namespace

int Info(const CommonOptions& options) {
  const absl::StatusOr<std::unique_ptr<PjRtClient>> client = MakeClient(options);
  if (!client.ok()) return Report(client.status());
  const auto print = [](absl::string_view key, const std::string& value) {
    std::printf("%-20s %s\n", absl::StrCat(key, ":").c_str(), value.c_str());
  };
  print("pjrt", LibraryVersionString());
  print("StableHLO read", absl::StrCat("text, up to ", ToString(kStablehloVersion)));
  print("StableHLO written", absl::StrCat("text, ", ToString(kStablehloVersion)));
  const std::string model = CpuModel();
  print("CPU", absl::StrCat(model.empty() ? "unknown" : model, ", ",
                            std::thread::hardware_concurrency(), " logical cores"));
  print("platform", fmt::format("{} {}", std::string((*client)->platform_name()),
                                std::string((*client)->platform_version())));
  for (const PjRtDevice* device : (*client)->addressable_devices()) {
    print("device", std::string(device->ToString()));
    std::map<std::string, std::string> sorted;
    for (const auto& [name, value] : device->Attributes()) {
      sorted[name] = ValueTypeToString(value);
    }
    for (const auto& [name, value] : sorted) print(absl::StrCat("  ", name), value);
  }
  print("kernel level is",
        options.isa.empty() ? "the widest that this machine has" : "as --isa says");
  print("plugins", "none: this version loads no plugins");
  return kOk;
}

}  // namespace pjrt::tool

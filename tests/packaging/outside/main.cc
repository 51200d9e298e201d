// SPDX-License-Identifier: Apache-2.0
//
// What an application does with the installed library: compile a program, run it, read the result.
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "pjrt/pjrt.h"
#include "pjrt/version.h"

namespace {

constexpr char kProgram[] = R"(
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %a = stablehlo.constant dense<3.0> : tensor<4xf32>
    %0 = stablehlo.multiply %a, %x : tensor<4xf32>
    %1 = stablehlo.add %0, %a : tensor<4xf32>
    return %1 : tensor<4xf32>
  })";

absl::StatusOr<std::string> Run() {
  auto client = pjrt::GetCpuClient();
  if (!client.ok()) return client.status();
  auto memory = (*client)->addressable_devices()[0]->default_memory_space();
  if (!memory.ok()) return memory.status();
  auto executable = (*client)->Compile(kProgram, pjrt::CompileOptions());
  if (!executable.ok()) return executable.status();

  const std::vector<float> x = {1, 2, 3, 4};
  const std::vector<int64_t> dims = {4};
  auto buffer = (*client)->BufferFromHostBuffer(
      x.data(), pjrt::F32, dims, std::nullopt,
      pjrt::PjRtClient::HostBufferSemantics::kImmutableOnlyDuringCall, nullptr, *memory, nullptr);
  if (!buffer.ok()) return buffer.status();
  const std::vector<pjrt::PjRtBuffer*> arguments = {buffer->get()};
  auto results = (*executable)->Execute({arguments}, pjrt::ExecuteOptions());
  if (!results.ok()) return results.status();
  auto literal = (*results)[0][0]->ToLiteralSync();
  if (!literal.ok()) return literal.status();

  std::string text;
  for (float value : (*literal)->data<float>()) {
    if (!text.empty()) text += ' ';
    text += std::to_string(static_cast<int>(value));
  }
  return text;
}

}  // namespace

int main() {
  if (pjrt::LibraryVersion() != pjrt::kVersion) return 1;
  const absl::StatusOr<std::string> text = Run();
  std::printf("%s\n", text.ok() ? text->c_str() : text.status().ToString().c_str());
  return text.ok() ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// a * x + y on the CPU: compiles StableHLO text, puts three arrays on the device, runs, reads back.
#include <cstdio>
#include <vector>

#include "pjrt/pjrt.h"

constexpr char kProgram[] = R"(
  func.func @main(%a: tensor<f32>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.multiply %0, %x : tensor<4xf32>
    %2 = stablehlo.add %1, %y : tensor<4xf32>
    return %2 : tensor<4xf32>
  })";

absl::Status RunAxpy() {
  // A client is the way to a platform; this one uses all cores of the machine as one device.
  auto client = pjrt::GetCpuClient();
  if (!client.ok()) return client.status();
  auto memory = (*client)->addressable_devices()[0]->default_memory_space();
  if (!memory.ok()) return memory.status();

  auto executable = (*client)->Compile(kProgram, pjrt::CompileOptions());
  if (!executable.ok()) return executable.status();

  // Copies a host array to the device. It may be changed or freed as soon as the call returns.
  auto to_device = [&](const std::vector<float>& values, std::vector<int64_t> dims) {
    return (*client)->BufferFromHostBuffer(
        values.data(), pjrt::F32, dims, /*byte_strides=*/std::nullopt,
        pjrt::PjRtClient::HostBufferSemantics::kImmutableOnlyDuringCall,
        /*on_done_with_host_buffer=*/nullptr, *memory, /*device_layout=*/nullptr);
  };
  auto a = to_device({2}, {});
  auto x = to_device({1, 2, 3, 4}, {4});
  auto y = to_device({10, 20, 30, 40}, {4});
  for (const auto* buffer : {&a, &x, &y}) {
    if (!buffer->ok()) return buffer->status();
  }

  // One list of arguments a device; Execute doesn't wait for the results, ToLiteralSync does.
  const std::vector<pjrt::PjRtBuffer*> arguments = {a->get(), x->get(), y->get()};
  auto results = (*executable)->Execute({arguments}, pjrt::ExecuteOptions());
  if (!results.ok()) return results.status();
  auto literal = (*results)[0][0]->ToLiteralSync();
  if (!literal.ok()) return literal.status();
  for (float value : (*literal)->data<float>()) std::printf("%g ", value);
  std::printf("\n");
  return absl::OkStatus();
}

int main() {
  const absl::Status status = RunAxpy();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// A function of the application that a program calls: registers a running mean over the last
// dimension and runs a program that uses it.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "pjrt/cpu/custom_call_bind.h"
#include "pjrt/pjrt.h"

namespace call = pjrt::custom_call;

// y[r, c] is the mean of x[r, c - window + 1 .. c], as far as there are so many.
absl::Status RunningMean(const call::Context& context, call::Input<float> x, int64_t window,
                         call::Output<float> y) {
  if (window < 1) return absl::InvalidArgumentError("window must be at least 1");
  const int64_t columns = x.dim(1);
  context.ParallelFor(x.dim(0), [&](int64_t row, int /*thread*/) {
    const float* from = x.data() + row * columns;
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t count = std::min(window, c + 1);
      float sum = 0;
      for (int64_t i = 0; i < count; ++i) sum += from[c - i];
      y[row * columns + c] = sum / static_cast<float>(count);
    }
  });
  return absl::OkStatus();
}

constexpr char kProgram[] = R"(
  func.func @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.custom_call @running_mean(%x) {
      api_version = 4 : i32, backend_config = {window = 2 : i64}
    } : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  })";

absl::Status RunExample() {
  // The specs say what each parameter of the function stands for, and with it what a call must look
  // like: one f32 operand and one f32 result of rank 2, and an attribute called window. A program
  // with another call is refused when it is compiled.
  auto registry = std::make_shared<pjrt::CustomCallRegistry>();
  absl::Status status = registry->Register(
      "running_mean", call::Bind(RunningMean, call::Ctx(), call::Arg<float>(/*rank=*/2),
                                 call::Attr<int64_t>("window"), call::Result<float>(/*rank=*/2)));
  if (!status.ok()) return status;

  pjrt::CpuClientOptions options;
  options.custom_calls = registry;
  auto client = pjrt::GetCpuClient(options);
  if (!client.ok()) return client.status();
  auto executable = (*client)->Compile(kProgram, pjrt::CompileOptions());
  if (!executable.ok()) return executable.status();

  auto memory = (*client)->addressable_devices()[0]->default_memory_space();
  if (!memory.ok()) return memory.status();
  const std::vector<float> values = {1, 3, 5, 7, 2, 2, 8, 8};
  auto x = (*client)->BufferFromHostBuffer(
      values.data(), pjrt::F32, {2, 4}, /*byte_strides=*/std::nullopt,
      pjrt::PjRtClient::HostBufferSemantics::kImmutableOnlyDuringCall,
      /*on_done_with_host_buffer=*/nullptr, *memory, /*device_layout=*/nullptr);
  if (!x.ok()) return x.status();
  auto results = (*executable)->Execute({{x->get()}}, pjrt::ExecuteOptions());
  if (!results.ok()) return results.status();
  auto literal = (*results)[0][0]->ToLiteralSync();
  if (!literal.ok()) return literal.status();
  for (float value : (*literal)->data<float>()) std::printf("%g ", value);
  std::printf("\n");
  return absl::OkStatus();
}

int main() {
  const absl::Status status = RunExample();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

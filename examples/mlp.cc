// SPDX-License-Identifier: Apache-2.0
//
// A neural network as a training framework exports it: reads the StableHLO text from a file, runs
// the forward pass on a batch of inputs and checks the predictions. The network knows XOR: weights
// and biases are constants of the program.
//
//   example_mlp [PROGRAM]      default: mlp.mlir in the current folder
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "pjrt/base/literal_compare.h"
#include "pjrt/pjrt.h"

absl::Status RunMlp(const std::string& path) {
  std::ifstream file(path);
  std::stringstream program;
  program << file.rdbuf();
  if (!file) return absl::NotFoundError("cannot read " + path);

  auto client = pjrt::GetCpuClient();
  if (!client.ok()) return client.status();
  auto executable = (*client)->Compile(program.str(), pjrt::CompileOptions());
  if (!executable.ok()) return executable.status();

  // A batch of four inputs with two features each.
  const pjrt::Literal batch = pjrt::CreateR2<float>({{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  auto memory = (*client)->addressable_devices()[0]->default_memory_space();
  if (!memory.ok()) return memory.status();
  auto input = (*client)->BufferFromHostLiteral(batch, *memory);
  if (!input.ok()) return input.status();

  const std::vector<pjrt::PjRtBuffer*> arguments = {input->get()};
  auto outputs = (*executable)->Execute({arguments}, pjrt::ExecuteOptions());
  if (!outputs.ok()) return outputs.status();
  auto predictions = (*outputs)[0][0]->ToLiteralSync();
  if (!predictions.ok()) return predictions.status();

  for (int64_t i = 0; i < 4; ++i) {
    std::printf("%g xor %g = %g\n", batch.Get<float>({i, 0}), batch.Get<float>({i, 1}),
                (*predictions)->Get<float>({i}));
  }
  const pjrt::Literal want = pjrt::CreateR1<float>({0, 1, 1, 0});
  return pjrt::CompareClose(**predictions, want, /*atol=*/1e-6, /*rtol=*/0).ToStatus();
}

int main(int argc, char** argv) {
  const absl::Status status = RunMlp(argc > 1 ? argv[1] : "mlp.mlir");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

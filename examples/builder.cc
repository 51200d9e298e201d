// SPDX-License-Identifier: Apache-2.0
//
// a * x + y with the program written in C++: no text, result types inferred.
#include <cstdio>
#include <memory>
#include <vector>

#include "pjrt/base/literal_compare.h"
#include "pjrt/ir/builder.h"
#include "pjrt/ir/printer.h"
#include "pjrt/pjrt.h"

// a * x + y for vectors of `size` elements.
absl::StatusOr<std::unique_ptr<pjrt::ir::Module>> MakeAxpy(int64_t size) {
  pjrt::ir::Builder b;
  pjrt::ir::FunctionBuilder f = b.Function("main");
  pjrt::ir::Value* a = f.Argument(pjrt::F32, {});
  pjrt::ir::Value* x = f.Argument(pjrt::F32, {size});
  pjrt::ir::Value* y = f.Argument(pjrt::F32, {size});
  f.Return({b.Add(b.Multiply(b.BroadcastInDim(a, {size}, {}), x), y)});
  return b.Build();  // the first error of all of the above, or the verified module
}

absl::Status RunAxpy() {
  auto module = MakeAxpy(4);
  if (!module.ok()) return module.status();
  std::printf("%s\n", pjrt::ir::PrintModule(**module).c_str());

  auto client = pjrt::GetCpuClient();
  if (!client.ok()) return client.status();
  auto executable = (*client)->Compile(*std::move(module), pjrt::CompileOptions());
  if (!executable.ok()) return executable.status();

  // Literals are arrays in host memory with their shape. Each must live until its buffer is ready.
  const pjrt::Literal inputs[] = {pjrt::CreateR0<float>(2), pjrt::CreateR1<float>({1, 2, 3, 4}),
                                  pjrt::CreateR1<float>({10, 20, 30, 40})};
  auto memory = (*client)->addressable_devices()[0]->default_memory_space();
  if (!memory.ok()) return memory.status();
  std::vector<std::unique_ptr<pjrt::PjRtBuffer>> buffers;
  std::vector<pjrt::PjRtBuffer*> arguments;
  for (const pjrt::Literal& input : inputs) {
    auto buffer = (*client)->BufferFromHostLiteral(input, *memory);
    if (!buffer.ok()) return buffer.status();
    arguments.push_back(buffer->get());
    buffers.push_back(*std::move(buffer));
  }

  auto results = (*executable)->Execute({arguments}, pjrt::ExecuteOptions());
  if (!results.ok()) return results.status();
  auto literal = (*results)[0][0]->ToLiteralSync();
  if (!literal.ok()) return literal.status();
  std::printf("%s\n", (*literal)->ToString().c_str());

  const pjrt::Literal want = pjrt::CreateR1<float>({12, 24, 36, 48});
  return pjrt::CompareExact(**literal, want).ToStatus();
}

int main() {
  const absl::Status status = RunAxpy();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

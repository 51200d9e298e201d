// SPDX-License-Identifier: Apache-2.0
#include "tests/cpu/cpu_test_util.h"

#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pjrt/compile_options.h"
#include "pjrt/device.h"
#include "pjrt/execute_options.h"
#include "src/core/base/status_macros.h"

namespace pjrt::cpu {

CpuClientOptions WithThreads(int threads) {
  CpuClientOptions options;
  options.threads = threads;
  return options;
}

std::unique_ptr<PjRtClient> MakeClient(CpuClientOptions options) {
  absl::StatusOr<std::unique_ptr<PjRtClient>> client = GetCpuClient(std::move(options));
  if (!client.ok()) {
    std::cerr << "GetCpuClient: " << client.status() << "\n";
    std::exit(1);
  }
  return *std::move(client);
}

PjRtClient& OneThreadClient() {
  static PjRtClient& client = *MakeClient(WithThreads(1)).release();
  return client;
}

PjRtMemorySpace* DefaultMemory(PjRtClient& client) {
  absl::StatusOr<PjRtMemorySpace*> memory = client.addressable_devices()[0]->default_memory_space();
  EXPECT_TRUE(memory.ok()) << memory.status();
  return memory.ok() ? *memory : nullptr;
}

std::vector<std::unique_ptr<PjRtBuffer>> ToDevice(PjRtClient& client,
                                                  const std::vector<const Literal*>& literals) {
  std::vector<std::unique_ptr<PjRtBuffer>> buffers;
  for (const Literal* literal : literals) {
    auto buffer = client.BufferFromHostLiteral(*literal, DefaultMemory(client));
    EXPECT_TRUE(buffer.ok()) << buffer.status();
    // The literal may be gone before an asynchronous copy is done.
    if (buffer.ok()) {
      EXPECT_TRUE((*buffer)->GetReadyFuture().Await().ok());
    }
    buffers.push_back(buffer.ok() ? *std::move(buffer) : nullptr);
  }
  return buffers;
}

std::vector<PjRtBuffer*> Pointers(const std::vector<std::unique_ptr<PjRtBuffer>>& buffers) {
  std::vector<PjRtBuffer*> pointers;
  for (const std::unique_ptr<PjRtBuffer>& buffer : buffers) pointers.push_back(buffer.get());
  return pointers;
}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> CompileText(PjRtClient& client,
                                                                  absl::string_view text) {
  return client.Compile(text, CompileOptions());
}

absl::StatusOr<std::vector<std::shared_ptr<Literal>>> RunLoaded(
    PjRtClient& client, const PjRtLoadedExecutable& executable,
    const std::vector<const Literal*>& arguments) {
  const std::vector<std::unique_ptr<PjRtBuffer>> buffers = ToDevice(client, arguments);
  const std::vector<PjRtBuffer*> pointers = Pointers(buffers);
  PJRT_ASSIGN_OR_RETURN(auto results, executable.Execute({pointers}, ExecuteOptions()));
  std::vector<std::shared_ptr<Literal>> literals;
  for (const std::unique_ptr<PjRtBuffer>& result : results[0]) {
    PJRT_ASSIGN_OR_RETURN(std::shared_ptr<Literal> literal, result->ToLiteralSync());
    literals.push_back(std::move(literal));
  }
  return literals;
}

absl::StatusOr<std::vector<std::shared_ptr<Literal>>> RunProgram(
    PjRtClient& client, absl::string_view text, const std::vector<const Literal*>& arguments) {
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtLoadedExecutable> executable,
                        CompileText(client, text));
  return RunLoaded(client, *executable, arguments);
}

std::vector<std::shared_ptr<Literal>> RunAll(absl::string_view text,
                                             const std::vector<const Literal*>& arguments) {
  auto results = RunProgram(OneThreadClient(), text, arguments);
  EXPECT_TRUE(results.ok()) << results.status() << "\n" << text;
  return results.ok() ? *std::move(results) : std::vector<std::shared_ptr<Literal>>();
}

Literal Preds(std::vector<int64_t> dims, std::initializer_list<int> values) {
  const std::unique_ptr<bool[]> bools(new bool[values.size() + 1]);
  size_t count = 0;
  for (int value : values) bools[count++] = value != 0;
  absl::StatusOr<Literal> literal =
      Literal::FromSpan<bool>(dims, absl::MakeConstSpan(bools.get(), count));
  EXPECT_TRUE(literal.ok()) << literal.status();
  return literal.ok() ? *std::move(literal) : Literal();
}

std::string DimsText(absl::Span<const int64_t> dims) {
  std::string text;
  for (int64_t d : dims) absl::StrAppend(&text, d, "x");
  return text;
}

std::string TensorText(absl::Span<const int64_t> dims, absl::string_view element) {
  return absl::StrCat("tensor<", DimsText(dims), element, ">");
}

}  // namespace pjrt::cpu

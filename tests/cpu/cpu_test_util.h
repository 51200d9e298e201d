// SPDX-License-Identifier: Apache-2.0
//
// Running programs on the CPU client, for tests that write StableHLO text and compare values.
#ifndef PJRT_TESTS_CPU_CPU_TEST_UTIL_H_
#define PJRT_TESTS_CPU_CPU_TEST_UTIL_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"
#include "pjrt/buffer.h"
#include "pjrt/client.h"
#include "pjrt/cpu/cpu_client.h"
#include "pjrt/executable.h"

namespace pjrt::cpu {

// A client that runs everything on the calling thread; made once a process.
PjRtClient& OneThreadClient();

// A client with these options. Ends the test program when it cannot be made.
std::unique_ptr<PjRtClient> MakeClient(CpuClientOptions options);
CpuClientOptions WithThreads(int threads);

PjRtMemorySpace* DefaultMemory(PjRtClient& client);

// Buffers for these literals, copied during the call.
std::vector<std::unique_ptr<PjRtBuffer>> ToDevice(PjRtClient& client,
                                                  const std::vector<const Literal*>& literals);

std::vector<PjRtBuffer*> Pointers(const std::vector<std::unique_ptr<PjRtBuffer>>& buffers);

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> CompileText(PjRtClient& client,
                                                                  absl::string_view text);

// Runs a program once on the first device and reads all results back.
absl::StatusOr<std::vector<std::shared_ptr<Literal>>> RunLoaded(
    PjRtClient& client, const PjRtLoadedExecutable& executable,
    const std::vector<const Literal*>& arguments);

// Compiles `text`, runs it once on the first device and reads all results back.
absl::StatusOr<std::vector<std::shared_ptr<Literal>>> RunProgram(
    PjRtClient& client, absl::string_view text, const std::vector<const Literal*>& arguments = {});

// The same on OneThreadClient(); a failure fails the test and gives no results.
std::vector<std::shared_ptr<Literal>> RunAll(absl::string_view text,
                                             const std::vector<const Literal*>& arguments = {});

template <typename T>
Literal Array(std::vector<int64_t> dims, const std::vector<T>& values) {
  absl::StatusOr<Literal> literal = Literal::FromSpan<T>(dims, absl::MakeConstSpan(values));
  EXPECT_TRUE(literal.ok()) << literal.status();
  return literal.ok() ? *std::move(literal) : Literal();
}

template <typename T>
Literal Array(PrimitiveType type, std::vector<int64_t> dims, const std::vector<T>& values) {
  absl::StatusOr<Literal> literal = Literal::FromSpan<T>(type, dims, absl::MakeConstSpan(values));
  EXPECT_TRUE(literal.ok()) << literal.status();
  return literal.ok() ? *std::move(literal) : Literal();
}

template <typename T>
Literal Scalar(T value) {
  return Array<T>({}, {value});
}

Literal Preds(std::vector<int64_t> dims, std::initializer_list<int> values);

template <typename T>
std::vector<T> Elements(const LiteralBase& literal) {
  const absl::Span<const T> data = literal.data<T>();
  return std::vector<T>(data.begin(), data.end());
}

// The only result of a program as elements of T; empty after a failure.
template <typename T>
std::vector<T> RunOne(absl::string_view text, const std::vector<const Literal*>& arguments = {}) {
  const std::vector<std::shared_ptr<Literal>> results = RunAll(text, arguments);
  EXPECT_EQ(results.size(), 1u);
  return results.size() == 1 ? Elements<T>(*results[0]) : std::vector<T>();
}

// The only result of a loaded program as elements of T.
template <typename T>
absl::StatusOr<std::vector<T>> RunLoadedOne(PjRtClient& client,
                                            const PjRtLoadedExecutable& executable,
                                            const std::vector<const Literal*>& arguments) {
  const absl::StatusOr<std::vector<std::shared_ptr<Literal>>> results =
      RunLoaded(client, executable, arguments);
  if (!results.ok()) return results.status();
  if (results->size() != 1)
    return absl::InternalError(absl::StrCat("the program has ", results->size(), " results"));
  return Elements<T>(*results->front());
}

// 0, 1, 2, ... as T.
template <typename T>
std::vector<T> Counting(int64_t count, T first = T(0)) {
  std::vector<T> values(count);
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<double>(first) + i);
  return values;
}

// "4x5x" for {4, 5}: what stands before the element type.
std::string DimsText(absl::Span<const int64_t> dims);
// "tensor<4x5xf32>".
std::string TensorText(absl::Span<const int64_t> dims, absl::string_view element);

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_CPU_TEST_UTIL_H_

// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the common client share: clients over MemoryBackend, small programs, buffers.
#ifndef PJRT_TESTS_RUNTIME_RUNTIME_FIXTURE_H_
#define PJRT_TESTS_RUNTIME_RUNTIME_FIXTURE_H_

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/backend/common_client.h"
#include "pjrt/base/literal.h"
#include "pjrt/client.h"
#include "pjrt/pjrt_layout.h"
#include "tests/runtime/memory_backend.h"

namespace pjrt::testing {

using Semantics = PjRtClient::HostBufferSemantics;
using Buffers = std::vector<std::unique_ptr<PjRtBuffer>>;

// OK, or the test fails and says why.
#define EXPECT_OK(expr) EXPECT_EQ(::absl::OkStatus(), (expr))
#define ASSERT_OK(expr) ASSERT_EQ(::absl::OkStatus(), (expr))

MATCHER_P2(Fails, code, text, "") {
  *result_listener << arg.ToString();
  return arg.code() == code && absl::StrContains(arg.message(), text);
}

// Options for that many devices.
inline MemoryBackendOptions Devices(int count) {
  MemoryBackendOptions options;
  options.num_devices = count;
  return options;
}

// A client over a MemoryBackend.
struct TestClient {
  explicit TestClient(MemoryBackendOptions options = {}, CommonClientOptions client_options = {});

  PjRtDevice* device(int i = 0) const { return client->addressable_devices()[i]; }
  PjRtMemorySpace* memory(int i = 0) const { return *device(i)->default_memory_space(); }

  // A buffer of S32 with these values, or with 0, 1, 2, ... .
  std::unique_ptr<PjRtBuffer> Make(std::vector<int32_t> values, int device_index = 0) const;
  std::unique_ptr<PjRtBuffer> MakeIota(int64_t size) const;
  // A buffer that becomes ready when the promise is set.
  std::unique_ptr<PjRtBuffer> MakePending(std::vector<int32_t> values, Promise<>* promise) const;

  std::unique_ptr<PjRtLoadedExecutable> Load(std::shared_ptr<const DeviceProgram> program,
                                             CompileOptions options = {}) const;

  std::unique_ptr<PjRtClient> client;
  MemoryBackend* backend;
};

// The values of an S32 buffer; waits for them.
absl::StatusOr<std::vector<int32_t>> Values(PjRtBuffer* buffer);

// y = x + 1 on S32[size]; `donation` and aliasing of the parameter, and more, by the caller.
ProgramInfo AddOneInfo(int64_t size, Donation donation = Donation::kNever);
Kernel AddOneKernel(int64_t size);
std::shared_ptr<const DeviceProgram> AddOne(int64_t size, Donation donation = Donation::kNever);
// z = x + y.
std::shared_ptr<const DeviceProgram> Add(int64_t size,
                                         Donation donation_of_second = Donation::kNever);

// Runs a program on one device.
absl::StatusOr<Buffers> RunOnce(const PjRtLoadedExecutable& executable,
                                std::vector<PjRtBuffer*> arguments,
                                const ExecuteOptions& options = {});

// A gate that kernels wait at.
class Gate {
 public:
  void Open();
  void Wait();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

}  // namespace pjrt::testing

#endif  // PJRT_TESTS_RUNTIME_RUNTIME_FIXTURE_H_

// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/runtime_fixture.h"

namespace pjrt::testing {

TestClient::TestClient(MemoryBackendOptions options, CommonClientOptions client_options) {
  auto owned = std::make_unique<MemoryBackend>(options);
  backend = owned.get();
  auto made = MakeCommonPjRtClient(std::move(owned), client_options);
  EXPECT_OK(made.status());
  if (made.ok()) client = *std::move(made);
}

std::unique_ptr<PjRtBuffer> TestClient::Make(std::vector<int32_t> values, int device_index) const {
  const int64_t size = static_cast<int64_t>(values.size());
  auto buffer = client->BufferFromHostBuffer(values.data(), S32, {size}, std::nullopt,
                                             Semantics::kImmutableOnlyDuringCall, nullptr,
                                             memory(device_index), nullptr);
  EXPECT_OK(buffer.status());
  return buffer.ok() ? *std::move(buffer) : nullptr;
}

std::unique_ptr<PjRtBuffer> TestClient::MakeIota(int64_t size) const {
  std::vector<int32_t> values(size);
  std::iota(values.begin(), values.end(), 0);
  return Make(std::move(values));
}

std::unique_ptr<PjRtBuffer> TestClient::MakePending(std::vector<int32_t> values,
                                                    Promise<>* promise) const {
  auto [p, future] = MakePromise<>();
  *promise = std::move(p);
  auto buffer = Make(std::move(values))->DonateWithControlDependency(std::move(future));
  EXPECT_OK(buffer.status());
  return buffer.ok() ? *std::move(buffer) : nullptr;
}

std::unique_ptr<PjRtLoadedExecutable> TestClient::Load(std::shared_ptr<const DeviceProgram> program,
                                                       CompileOptions options) const {
  auto loaded = LoadDeviceProgram(client.get(), std::move(program), std::move(options));
  EXPECT_OK(loaded.status());
  return loaded.ok() ? *std::move(loaded) : nullptr;
}

absl::StatusOr<std::vector<int32_t>> Values(PjRtBuffer* buffer) {
  absl::StatusOr<std::shared_ptr<Literal>> literal = buffer->ToLiteralSync();
  if (!literal.ok()) return literal.status();
  const absl::Span<const int32_t> data = (*literal)->data<int32_t>();
  return std::vector<int32_t>(data.begin(), data.end());
}

ProgramInfo AddOneInfo(int64_t size, Donation donation) {
  ProgramInfo info;
  info.name = "add_one";
  info.parameters.push_back({MakeShapeWithDescendingLayout(S32, {size}), donation, "", ""});
  info.results.push_back(
      {MakeShapeWithDescendingLayout(S32, {size}), donation == Donation::kNever ? -1 : 0, "", ""});
  return info;
}

Kernel AddOneKernel(int64_t size) {
  return [size](const KernelArgs& args) {
    for (int64_t i = 0; i < size; ++i) {
      args.output<int32_t>(0)[i] = args.input<int32_t>(0)[i] + 1;
    }
    return absl::OkStatus();
  };
}

std::shared_ptr<const DeviceProgram> AddOne(int64_t size, Donation donation) {
  return std::make_shared<KernelProgram>(AddOneInfo(size, donation), AddOneKernel(size));
}

std::shared_ptr<const DeviceProgram> Add(int64_t size, Donation donation_of_second) {
  ProgramInfo info;
  info.name = "add";
  const Shape shape = MakeShapeWithDescendingLayout(S32, {size});
  info.parameters.push_back({shape, Donation::kNever, "", ""});
  info.parameters.push_back({shape, donation_of_second, "", ""});
  info.results.push_back({shape, donation_of_second == Donation::kNever ? -1 : 1, "", ""});
  return std::make_shared<KernelProgram>(std::move(info), [size](const KernelArgs& args) {
    for (int64_t i = 0; i < size; ++i) {
      args.output<int32_t>(0)[i] = args.input<int32_t>(0)[i] + args.input<int32_t>(1)[i];
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<Buffers> RunOnce(const PjRtLoadedExecutable& executable,
                                std::vector<PjRtBuffer*> arguments, const ExecuteOptions& options) {
  auto results = executable.Execute({std::move(arguments)}, options);
  if (!results.ok()) return results.status();
  return std::move(results->front());
}

void Gate::Open() {
  std::lock_guard<std::mutex> lock(mutex_);
  is_open_ = true;
  changed_.notify_all();
}

void Gate::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return is_open_; });
}

}  // namespace pjrt::testing

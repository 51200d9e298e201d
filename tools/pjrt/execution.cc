// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/execution.h"

#include <optional>
#include <utility>

#include "pjrt/device.h"
#include "pjrt/memory_space.h"
#include "src/core/base/status_macros.h"

namespace pjrt::tool {

absl::StatusOr<std::unique_ptr<PjRtBuffer>> ToDevice(PjRtClient* client, const Literal& literal) {
  PJRT_ASSIGN_OR_RETURN(PjRtMemorySpace * memory,
                        client->addressable_devices()[0]->default_memory_space());
  PJRT_ASSIGN_OR_RETURN(std::unique_ptr<PjRtBuffer> buffer,
                        client->BufferFromHostLiteral(literal, memory));
  PJRT_RETURN_IF_ERROR(buffer->GetReadyFuture().Await());
  return buffer;
}

absl::StatusOr<Buffers> ToDevice(PjRtClient* client, absl::Span<const Literal> literals) {
  Buffers buffers;
  for (const Literal& literal : literals) {
    PJRT_ASSIGN_OR_RETURN(buffers.emplace_back(), ToDevice(client, literal));
  }
  return buffers;
}

std::vector<PjRtBuffer*> Handles(const Buffers& buffers) {
  std::vector<PjRtBuffer*> handles;
  handles.reserve(buffers.size());
  for (const std::unique_ptr<PjRtBuffer>& buffer : buffers) handles.push_back(buffer.get());
  return handles;
}

absl::StatusOr<Buffers> Execute(const PjRtLoadedExecutable& executable,
                                const std::vector<PjRtBuffer*>& arguments) {
  PJRT_ASSIGN_OR_RETURN(std::vector<Buffers> results,
                        executable.Execute(absl::MakeConstSpan(&arguments, 1), ExecuteOptions()));
  return std::move(results[0]);
}

absl::StatusOr<Buffers> ExecuteToEnd(const PjRtLoadedExecutable& executable,
                                     const std::vector<PjRtBuffer*>& arguments) {
  std::optional<std::vector<Future<>>> done(std::in_place);
  PJRT_ASSIGN_OR_RETURN(
      std::vector<Buffers> results,
      executable.Execute(absl::MakeConstSpan(&arguments, 1), ExecuteOptions(), done));
  for (Future<>& future : *done) PJRT_RETURN_IF_ERROR(future.Await());
  return std::move(results[0]);
}

absl::Status AwaitAll(const Buffers& buffers) {
  absl::Status status;
  for (const std::unique_ptr<PjRtBuffer>& buffer : buffers) {
    status.Update(buffer->GetReadyFuture().Await());
  }
  return status;
}

absl::StatusOr<std::vector<std::shared_ptr<Literal>>> ToHost(const Buffers& buffers) {
  std::vector<std::shared_ptr<Literal>> literals;
  for (const std::unique_ptr<PjRtBuffer>& buffer : buffers) {
    if (buffer->element_type() == TOKEN) {
      PJRT_RETURN_IF_ERROR(buffer->GetReadyFuture().Await());
      literals.push_back(std::make_shared<Literal>(CreateToken()));
      continue;
    }
    PJRT_ASSIGN_OR_RETURN(literals.emplace_back(), buffer->ToLiteralSync());
  }
  return literals;
}

}  // namespace pjrt::tool

// SPDX-License-Identifier: Apache-2.0
//
// Reading a buffer: into literals, and as raw bytes.
#include <cstring>
#include <utility>

#include "pjrt/base/literal.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_buffer.h"
#include "src/core/runtime/future_util.h"
#include "src/core/runtime/host_transfer.h"

namespace pjrt {
namespace {

// The run-time sizes of a buffer whose bytes are at `bytes`. INTERNAL for sizes that the device had
// no business to write.
absl::StatusOr<DimensionVector> LogicalSizes(const BufferType& type, const void* bytes) {
  const Shape& shape = type.shape;
  DimensionVector sizes(shape.dimensions().begin(), shape.dimensions().end());
  if (shape.is_static()) return sizes;
  const char* metadata = static_cast<const char*>(bytes) + type.elements_bytes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int32_t size;
    std::memcpy(&size, metadata + 4 * i, 4);
    if (size < 0 || size > sizes[i]) {
      return Internal("PJRT-R024", "dimension ", i, " of ", shape.ToString(), " has size ", size,
                      " at run time");
    }
    sizes[i] = size;
  }
  return sizes;
}

absl::Status BytesToLiteral(const BufferType& type, const void* bytes,
                            MutableLiteralBase* literal) {
  const Shape& target = literal->shape();
  if (type.shape.IsToken() && target.IsToken()) return absl::OkStatus();
  PJRT_ASSIGN_OR_RETURN(const DimensionVector sizes, LogicalSizes(type, bytes));
  if (target.element_type() != type.shape.element_type() ||
      target.dimensions() != absl::MakeConstSpan(sizes)) {
    return Internal("PJRT-R025", "Shape mismatch during ToLiteral conversion: the buffer is ",
                    type.shape.ToString(), ", the literal ", target.ToString());
  }
  if (type.shape.IsToken()) return absl::OkStatus();
  const HostTransfer transfer(type, sizes, ByteStrides(target));
  transfer.ToHost(bytes, literal->untyped_data());
  return absl::OkStatus();
}

// Copies what is in `raw`, which is defined, to `literal`.
Future<> RawToLiteral(CommonPjRtClient* client, const BufferTypeRef& type, RawBufferRef raw,
                      MutableLiteralBase* literal) {
  if (literal == nullptr) {
    return InvalidArgument("PJRT-R025", "ToLiteral needs a literal; given null");
  }
  const void* bytes = raw->host_pointer();
  if (bytes != nullptr || raw->size() == 0) {
    return client->RunCopy(type->bytes, [type, bytes, literal, kept = std::move(raw)] {
      return BytesToLiteral(*type, bytes, literal);
    });
  }
  auto staging = std::make_shared<std::vector<char>>(type->bytes);
  return client->CopyBytesToHost(std::move(raw), 0, type->bytes, staging->data())
      .Map([type, staging, literal] { return BytesToLiteral(*type, staging->data(), literal); });
}

}  // namespace

absl::StatusOr<Future<>> CommonPjRtBuffer::Read(
    absl::AnyInvocable<Future<>(const RawBufferRef&) &&> read) {
  ParkingLot& lot = common_client()->parking_lot();
  if (holds_.Usage(lot) != HoldState::Result::kHeld) return DeletedBufferError();
  Future<> result;
  if (contents_.definition.IsReady()) {
    const absl::Status& defined = contents_.definition.Await();
    result = defined.ok() ? std::move(read)(contents_.memory.Ref()) : Future<>(defined);
  } else {
    result = contents_.definition.Map(
        [memory = contents_.memory, r = std::move(read)]() mutable -> Future<> {
          return std::move(r)(memory.Ref());
        });
  }
  AddUsage(result);
  holds_.DropUsage(lot);
  return result;
}

Future<> CommonPjRtBuffer::ToLiteral(MutableLiteralBase* literal) {
  absl::StatusOr<Future<>> done =
      Read([client = common_client(), type = type_, literal](const RawBufferRef& raw) {
        return RawToLiteral(client, type, raw, literal);
      });
  return done.ok() ? *std::move(done) : Future<>(done.status());
}

Future<std::shared_ptr<Literal>> CommonPjRtBuffer::ToLiteral() {
  if (type_->shape.is_static()) return PjRtBuffer::ToLiteral();
  // The shape of the literal is known when the sizes are.
  auto literal = std::make_shared<Literal>();
  absl::StatusOr<Future<>> done = Read([client = common_client(), type = type_,
                                        literal](const RawBufferRef& raw) -> Future<> {
    auto staging = std::make_shared<std::vector<char>>(type->bytes);
    return client->CopyBytesToHost(raw, 0, type->bytes, staging->data())
        .Map([type, staging, literal]() -> absl::Status {
          PJRT_ASSIGN_OR_RETURN(const DimensionVector sizes, LogicalSizes(*type, staging->data()));
          Shape shape = MakeShape(type->shape.element_type(), sizes);
          shape.set_layout(Layout(type->shape.layout().minor_to_major()));
          PJRT_ASSIGN_OR_RETURN(*literal, Literal::MakeUninitialized(shape));
          return BytesToLiteral(*type, staging->data(), literal.get());
        });
  });
  if (!done.ok()) return done.status();
  return done->MapTo(std::move(literal));
}

Future<> CommonPjRtBuffer::LazyToLiteral(
    absl::AnyInvocable<Future<MutableLiteralBase*>() &&> generator) {
  absl::StatusOr<Future<>> done =
      Read([client = common_client(), type = type_,
            g = std::move(generator)](const RawBufferRef& raw) mutable -> Future<> {
        return std::move(g)().Map([client, type, raw](MutableLiteralBase* literal) -> Future<> {
          return RawToLiteral(client, type, raw, literal);
        });
      });
  return done.ok() ? *std::move(done) : Future<>(done.status());
}

absl::StatusOr<std::vector<int64_t>> CommonPjRtBuffer::logical_dimensions() {
  if (type_->shape.is_static()) return PjRtBuffer::logical_dimensions();
  std::vector<char> staging(type_->bytes);
  PJRT_ASSIGN_OR_RETURN(Future<> done, Read([client = common_client(), type = type_,
                                             &staging](const RawBufferRef& raw) {
                          return client->CopyBytesToHost(raw, 0, type->bytes, staging.data());
                        }));
  PJRT_RETURN_IF_ERROR(done.Await());
  PJRT_ASSIGN_OR_RETURN(const DimensionVector sizes, LogicalSizes(*type_, staging.data()));
  return std::vector<int64_t>(sizes.begin(), sizes.end());
}

absl::Status CommonPjRtBuffer::CheckRange(int64_t offset, int64_t size) const {
  const auto bytes = static_cast<int64_t>(type_->bytes);
  if (offset < 0 || size < 0 || offset > bytes || size > bytes - offset) {
    return InvalidArgument("PJRT-R026", "copy of ", size, " bytes from offset ", offset,
                           " isn't within the buffer's ", bytes, " bytes");
  }
  return absl::OkStatus();
}

Future<> CommonPjRtBuffer::CopyRawToHost(void* dst, int64_t offset, int64_t size) {
  return CopyRawToHostFuture(Future<void*>(dst), offset, size);
}

Future<> CommonPjRtBuffer::CopyRawToHostFuture(Future<void*> dst, int64_t offset, int64_t size) {
  if (IsDeleted()) return DeletedBufferError();
  if (absl::Status in_range = CheckRange(offset, size); !in_range.ok()) return in_range;
  absl::StatusOr<Future<>> done = Read([client = common_client(), target = std::move(dst), offset,
                                        size](const RawBufferRef& raw) -> Future<> {
    return target.Map([client, raw, offset, size](void* bytes) -> Future<> {
      return client->CopyBytesToHost(raw, static_cast<size_t>(offset), static_cast<size_t>(size),
                                     bytes);
    });
  });
  return done.ok() ? *std::move(done) : Future<>(done.status());
}

}  // namespace pjrt

// SPDX-License-Identifier: Apache-2.0
//
// Default methods of PjRtBuffer.
#include "pjrt/buffer.h"

#include <utility>

#include "pjrt/base/literal.h"
#include "pjrt/base/shape.h"
#include "pjrt/pjrt_layout.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/unimplemented.h"

namespace pjrt {

absl::Status PjRtBuffer::ExternalReference::WaitUntilBufferReadyOnStream(intptr_t) {
  return UnimplementedMethod("PjRtBuffer::ExternalReference::WaitUntilBufferReadyOnStream");
}

PrimitiveType PjRtBuffer::element_type() const { return on_device_shape().element_type(); }

absl::Span<const int64_t> PjRtBuffer::dimensions() const { return on_device_shape().dimensions(); }

std::shared_ptr<const PjRtLayout> PjRtBuffer::layout() const {
  const Shape& shape = on_device_shape();
  return std::make_shared<const PjRtLayout>(
      shape.has_layout() ? shape.layout() : MakeDescendingLayout(shape.rank()));
}

bool PjRtBuffer::IsTuple() const { return on_device_shape().IsTuple(); }

bool PjRtBuffer::has_dynamic_dimensions() const { return on_device_shape().is_dynamic(); }

absl::Span<const bool> PjRtBuffer::is_dynamic_dimension() const {
  return on_device_shape().dynamic_dimensions();
}

absl::StatusOr<std::vector<int64_t>> PjRtBuffer::logical_dimensions() {
  if (has_dynamic_dimensions()) return UnimplementedMethod("PjRtBuffer::logical_dimensions");
  return std::vector<int64_t>(dimensions().begin(), dimensions().end());
}

absl::StatusOr<Shape> PjRtBuffer::logical_on_device_shape() {
  Shape shape = on_device_shape();
  if (shape.is_static()) return shape;
  PJRT_ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, logical_dimensions());
  for (int i = 0; i < shape.dimensions_size(); ++i) {
    shape.set_dimensions(i, sizes[i]);
    shape.set_dynamic_dimension(i, false);
  }
  return shape;
}

absl::StatusOr<Shape> PjRtBuffer::HostShape() {
  PJRT_ASSIGN_OR_RETURN(Shape shape, logical_on_device_shape());
  if (!shape.IsArray()) return shape;
  const DimensionVector order = MinorToMajorOrDefault(shape);
  shape.set_layout(Layout(order));
  return shape;
}

Future<std::shared_ptr<Literal>> PjRtBuffer::ToLiteral() {
  absl::StatusOr<Shape> shape = HostShape();
  if (!shape.ok()) return shape.status();
  absl::StatusOr<Literal> made = Literal::MakeUninitialized(*shape);
  if (!made.ok()) return made.status();
  auto literal = std::make_shared<Literal>(*std::move(made));
  Future<> copied = ToLiteral(literal.get());
  return copied.MapTo(std::move(literal));
}

Future<> PjRtBuffer::LazyToLiteral(absl::AnyInvocable<Future<MutableLiteralBase*>() &&>) {
  return UnimplementedMethod("PjRtBuffer::LazyToLiteral");
}

absl::Status PjRtBuffer::ToLiteralSync(MutableLiteralBase* literal) {
  return ToLiteral(literal).Await();
}

absl::StatusOr<std::shared_ptr<Literal>> PjRtBuffer::ToLiteralSync() { return ToLiteral().Await(); }

Future<> PjRtBuffer::CopyRawToHost(void*, int64_t, int64_t) {
  return UnimplementedMethod("PjRtBuffer::CopyRawToHost");
}

Future<> PjRtBuffer::CopyRawToHostFuture(Future<void*>, int64_t, int64_t) {
  return UnimplementedMethod("PjRtBuffer::CopyRawToHostFuture");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer::ExternalReference>>
PjRtBuffer::AcquireExternalReference() {
  return UnimplementedMethod("PjRtBuffer::AcquireExternalReference");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer::ExternalReference>>
PjRtBuffer::ReleaseDeviceMemoryOwnership(bool) {
  return UnimplementedMethod("PjRtBuffer::ReleaseDeviceMemoryOwnership");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> PjRtBuffer::CopyToMemorySpace(PjRtBuffer*) {
  return UnimplementedMethod("PjRtBuffer::CopyToMemorySpace(PjRtBuffer*)");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> PjRtBuffer::Bitcast(PrimitiveType,
                                                                absl::Span<const int64_t>,
                                                                const Layout*) {
  return UnimplementedMethod("PjRtBuffer::Bitcast");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> PjRtBuffer::DonateWithControlDependency(Future<>) {
  return UnimplementedMethod("PjRtBuffer::DonateWithControlDependency");
}

void PjRtBuffer::CopyToRemoteDevice(Future<std::string>, RemoteSendCallback on_done) {
  on_done(UnimplementedMethod("PjRtBuffer::CopyToRemoteDevice"), /*sends_were_enqueued=*/false);
}

}  // namespace pjrt

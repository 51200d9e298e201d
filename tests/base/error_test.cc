// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/error.h"

#include <string>

#include "absl/strings/cord.h"
#include "gtest/gtest.h"
#include "src/core/base/status_macros.h"

namespace pjrt {
namespace {

TEST(ErrorTest, MessagesBeginWithTheId) {
  const absl::Status status = InvalidArgument("PJRT-B005", "dimension ", 1, " is ", -4);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "[PJRT-B005] dimension 1 is -4");
  EXPECT_EQ(ErrorId(status), "PJRT-B005");
}

TEST(ErrorTest, EachMakerHasItsCode) {
  EXPECT_EQ(Unimplemented("PJRT-B001", "").code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(FailedPrecondition("PJRT-B001", "").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Internal("PJRT-B001", "").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(NotFound("PJRT-B001", "").code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ResourceExhausted("PJRT-B001", "").code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(AlreadyExists("PJRT-B001", "").code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(Cancelled("PJRT-B001", "").code(), absl::StatusCode::kCancelled);
}

TEST(ErrorTest, OtherErrorsHaveNoId) {
  EXPECT_EQ(ErrorId(absl::OkStatus()), "");
  EXPECT_EQ(ErrorId(absl::InternalError("PJRT-B001")), "");
  EXPECT_EQ(ErrorId(absl::InternalError("[PJRT-B001 never ends")), "");
}

TEST(ErrorTest, ContextGoesBehindTheId) {
  absl::Status status = NotFound("PJRT-B021", "no such file");
  status.SetPayload("url", absl::Cord("payload"));
  const absl::Status with_context = WithContext(status, "input 2");
  EXPECT_EQ(with_context.message(), "[PJRT-B021] input 2: no such file");
  EXPECT_EQ(with_context.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(*with_context.GetPayload("url"), "payload");
  EXPECT_EQ(WithContext(absl::InternalError("plain"), "here").message(), "here: plain");
  EXPECT_TRUE(WithContext(absl::OkStatus(), "here").ok());
}

TEST(ErrorTest, LongTextsAreCut) {
  EXPECT_EQ(Shorten("short"), "short");
  EXPECT_EQ(Shorten("abcdef", 3), "abc...");
  EXPECT_EQ(Shorten(std::string(1000, 'x')).size(), 203u);
}

absl::StatusOr<int> Half(int x) {
  if (x % 2 != 0) return InvalidArgument("PJRT-B001", x, " is odd");
  return x / 2;
}

absl::StatusOr<int> Quarter(int x) {
  PJRT_ASSIGN_OR_RETURN(const int half, Half(x));
  PJRT_RETURN_IF_ERROR(Half(half).status());
  return half / 2;
}

TEST(StatusMacrosTest, TheFirstErrorIsReturned) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(7).status().message(), "[PJRT-B001] 7 is odd");
  EXPECT_EQ(Quarter(6).status().message(), "[PJRT-B001] 3 is odd");
}

}  // namespace
}  // namespace pjrt

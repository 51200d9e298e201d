// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::HasSubstr;

// Asserts %ok with the message, given %n and the constant -3.
std::string Asserting(absl::string_view message_attribute) {
  return absl::StrCat(R"(
    func.func @main(%ok: tensor<i1>, %n: tensor<i64>) -> tensor<i64> {
      %m = stablehlo.constant dense<-3> : tensor<i32>
      stablehlo.custom_call @shape_assertion(%ok, %n, %m) {api_version = 2 : i32,
        has_side_effect = true, )",
                      message_attribute, R"(} : (tensor<i1>, tensor<i64>, tensor<i32>) -> ()
      return %n : tensor<i64>
    })");
}

TEST(ShapeAssertion, PassesWhenItHolds) {
  const Literal yes = Preds({}, {1}), n = Scalar<int64_t>(5);
  EXPECT_EQ(RunOne<int64_t>(Asserting("error_message = \"no\""), {&yes, &n}),
            std::vector<int64_t>{5});
}

TEST(ShapeAssertion, FailsTheExecutionWithTheValuesInItsMessage) {
  const Literal no = Preds({}, {0}), n = Scalar<int64_t>(5);
  for (const char* attribute : {"error_message = \"n = {0}, m = {1}; {2} {x} {\"",
                                "backend_config = \"n = {0}, m = {1}; {2} {x} {\""}) {
    const absl::Status status =
        RunProgram(OneThreadClient(), Asserting(attribute), {&no, &n}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ErrorId(status), "PJRT-K005");
    EXPECT_THAT(std::string(status.message()), HasSubstr("n = 5, m = -3; {2} {x} {"));
  }
}

TEST(ShapeAssertion, IsRefusedWithOperandsThatAreNoNumbers) {
  for (const char* call :
       {"(%x) : (tensor<2xi1>) -> ()", "() : () -> ()", "(%y) : (tensor<i32>) -> ()",
        "(%p, %x) : (tensor<i1>, tensor<2xi1>) -> ()"}) {
    const absl::Status status = RunProgram(OneThreadClient(), absl::StrCat(R"(
          func.func @main(%x: tensor<2xi1>, %y: tensor<i32>, %p: tensor<i1>) -> tensor<i32> {
            stablehlo.custom_call @shape_assertion)",
                                                                           call, R"(
            return %y : tensor<i32>
          })"))
                                    .status();
    EXPECT_EQ(ErrorId(status), "PJRT-K002") << call << ": " << status;
  }
}

}  // namespace
}  // namespace pjrt::cpu

// SPDX-License-Identifier: Apache-2.0
//
// Custom calls of the application's functions: what they are given, and what is refused.
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pjrt/compile_options.h"
#include "pjrt/cpu/custom_call_bind.h"
#include "pjrt/execute_options.h"
#include "src/core/base/error.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

namespace call = pjrt::custom_call;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A client that knows one function, called f.
std::unique_ptr<PjRtClient> ClientWith(call::Factory factory, int threads = 1) {
  auto registry = std::make_shared<CustomCallRegistry>();
  EXPECT_TRUE(registry->Register("f", std::move(factory)).ok());
  CpuClientOptions options = WithThreads(threads);
  options.custom_calls = registry;
  return MakeClient(std::move(options));
}

// A program of one call of f: `call` is what stands behind the name.
std::string CallOf(absl::string_view call, absl::string_view arguments, absl::string_view results) {
  return absl::StrCat("func.func @main(", arguments, ") -> ", results,
                      " {\n  %0 = stablehlo.custom_call @f", call, "\n  return %0 : ", results,
                      "\n}");
}

// What compiling (or running without arguments) says of a call of a function bound with `specs`.
template <typename Fn, typename... Specs>
absl::Status Refusal(const std::string& text, Fn fn, Specs... specs) {
  return RunProgram(*ClientWith(call::Bind(fn, specs...)), text).status();
}

constexpr char kScaleCall[] =
    "(%x) {backend_config = {factor = 2.5 : f64}, api_version = 4 : i32} : (tensor<3xf32>) -> "
    "tensor<3xf32>";

absl::Status Scale(call::Input<float> x, double factor, call::Output<float> y) {
  for (int64_t i = 0; i < x.size(); ++i) y[i] = static_cast<float>(factor * x[i]);
  return absl::OkStatus();
}

TEST(CustomCall, CallsATypedFunctionWithArgumentsAttributesAndResults) {
  const auto client = ClientWith(
      call::Bind(Scale, call::Arg<float>(), call::Attr<double>("factor"), call::Result<float>()));
  const Literal x = Array<float>({3}, {1, 2, 4});
  const auto results =
      RunProgram(*client, CallOf(kScaleCall, "%x: tensor<3xf32>", "tensor<3xf32>"), {&x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Elements<float>(*(*results)[0]), ElementsAre(2.5f, 5.0f, 10.0f));
}

TEST(CustomCall, ReadsAttributesInAllTheirSpellings) {
  for (const char* spelling :
       {"mhlo.backend_config = {factor = 2.5 : f64}",
        "mhlo.backend_config = {factor = 2.5 : f64}, backend_config = \"\"",
        "mhlo.backend_config = {factor = 2.5 : f32}, api_version = 2 : i32",
        "mhlo.attributes = {factor = 2.5 : f32}", "backend_config = \"{\\22factor\\22: 2.5}\"",
        "backend_config = {factor = 2.5 : f64}, api_version = 4 : i32"}) {
    const auto client = ClientWith(
        call::Bind(Scale, call::Arg<float>(), call::Attr<double>("factor"), call::Result<float>()));
    const Literal x = Array<float>({1}, {2});
    const auto results =
        RunProgram(*client,
                   CallOf(absl::StrCat("(%x) {", spelling, "} : (tensor<1xf32>) -> tensor<1xf32>"),
                          "%x: tensor<1xf32>", "tensor<1xf32>"),
                   {&x});
    ASSERT_TRUE(results.ok()) << spelling << ": " << results.status();
    EXPECT_THAT(Elements<float>(*(*results)[0]), ElementsAre(5.0f)) << spelling;
  }
}

TEST(CustomCall, DecodesEachKindOfAttribute) {
  const auto client = ClientWith(call::Bind(
      [](bool flag, int32_t small, float real, const std::string& text,
         const std::vector<int64_t>& ints, const std::vector<double>& floats,
         const std::vector<int64_t>& none, const call::Dict& inner,
         const std::optional<int64_t>& absent, int64_t otherwise, const call::Dict& all,
         call::Output<int32_t> out) {
        out[0] = flag;
        out[1] = small;
        out[2] = real == 1.5f;
        out[3] = text == "two words";
        out[4] = ints == std::vector<int64_t>{1, -2};
        out[5] = floats == std::vector<double>{0.5, 3};
        out[6] = none.empty();
        const call::Attribute* deep = inner.Find("deep");
        out[7] = deep != nullptr && deep->As<std::vector<int64_t>>() != nullptr &&
                 *deep->As<std::vector<int64_t>>() == std::vector<int64_t>(6, 7);
        out[8] = !absent.has_value();
        out[9] = static_cast<int32_t>(otherwise);
        out[10] = static_cast<int32_t>(all.size());
        out[11] =
            all.Find("wide")->As<int64_t>() != nullptr && *all.Find("wide")->As<int64_t>() == -1;
        return absl::OkStatus();
      },
      call::Attr<bool>("flag"), call::Attr<int32_t>("small"), call::Attr<float>("real"),
      call::Attr<std::string>("text"), call::Attr<std::vector<int64_t>>("ints"),
      call::Attr<std::vector<double>>("floats"), call::Attr<std::vector<int64_t>>("none"),
      call::Attr<call::Dict>("inner"), call::OptionalAttr<int64_t>("absent"),
      call::Attr<int64_t>("otherwise", 9), call::AllAttrs(), call::Result<int32_t>()));
  const auto results = RunProgram(
      *client,
      CallOf("() {mhlo.backend_config = {flag = true, small = 76 : ui8, real = 1.5 : f32, "
             "text = \"two words\", ints = array<i64: 1, -2>, floats = [0.5, 3.0], none = [], "
             "inner = {deep = dense<7> : tensor<2x3xi8>}, wide = 18446744073709551615 : ui64, "
             "other = @symbol}} : () -> tensor<12xi32>",
             "", "tensor<12xi32>"));
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Elements<int32_t>(*(*results)[0]), ElementsAre(1, 76, 1, 1, 1, 1, 1, 1, 1, 9, 10, 1));
}

TEST(CustomCall, GivesAnyTypeAndTheRestOfTheOperandsAndResults) {
  const auto client = ClientWith(call::Bind(
      [](const call::Array& first, absl::Span<const call::Array> rest, const std::string& config,
         const call::Array& result) {
        static_cast<int64_t*>(result.data)[0] = first.size();
        static_cast<int64_t*>(result.data)[1] = static_cast<int64_t>(rest.size());
        static_cast<int64_t*>(result.data)[2] = rest[1].type == C128 ? rest[1].size_bytes() : -1;
        static_cast<int64_t*>(result.data)[3] = config == "{\"a\": 1}";
        return absl::OkStatus();
      },
      call::AnyArg(), call::RestArgs(), call::BackendConfig(), call::AnyResult()));
  const Literal a = Array<float>({0, 3}, {}), b = Scalar<int32_t>(1);
  const Literal c = Array<std::complex<double>>({2}, {1.0, 2.0});
  const auto results = RunProgram(
      *client,
      CallOf("(%a, %b, %c) {backend_config = \"{\\22a\\22: 1}\"} : (tensor<0x3xf32>, tensor<i32>, "
             "tensor<2xcomplex<f64>>) -> tensor<4xi64>",
             "%a: tensor<0x3xf32>, %b: tensor<i32>, %c: tensor<2xcomplex<f64>>", "tensor<4xi64>"),
      {&a, &b, &c});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Elements<int64_t>(*(*results)[0]), ElementsAre(0, 2, 32, 1));
}

TEST(CustomCall, SeesRowMajorDataOfTransposedAndBroadcastOperands) {
  const auto client = ClientWith(call::Bind(
      [](call::Input<int32_t> x, call::Output<int32_t> y) {
        std::copy(x.begin(), x.end(), y.begin());
        return absl::OkStatus();
      },
      call::Arg<int32_t>(2), call::Result<int32_t>(1)));
  const Literal x = Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const auto results = RunProgram(*client, R"(
    func.func @main(%x: tensor<2x3xi32>) -> (tensor<6xi32>, tensor<4xi32>) {
      %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
      %1 = stablehlo.custom_call @f(%0) {operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
        result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<3x2xi32>) -> tensor<6xi32>
      %2 = stablehlo.constant dense<7> : tensor<2x2xi32>
      %3 = stablehlo.custom_call @f(%2) : (tensor<2x2xi32>) -> tensor<4xi32>
      return %1, %3 : tensor<6xi32>, tensor<4xi32>
    })",
                                  {&x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Elements<int32_t>(*(*results)[0]), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(Elements<int32_t>(*(*results)[1]), ElementsAre(7, 7, 7, 7));
}

TEST(CustomCall, KeepsAnOperandThatItIsSaidToAlias) {
  const auto client = ClientWith(
      call::Bind(Scale, call::Arg<float>(), call::Attr<double>("factor"), call::Result<float>()));
  const Literal x = Array<float>({2}, {1, 2});
  const auto results = RunProgram(*client, R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %0 = stablehlo.add %x, %x : tensor<2xf32>
      %1 = stablehlo.custom_call @f(%0) {mhlo.backend_config = {factor = 3.0 : f64},
        output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [],
        operand_index = 0, operand_tuple_indices = []>]} : (tensor<2xf32>) -> tensor<2xf32>
      return %0, %1 : tensor<2xf32>, tensor<2xf32>
    })",
                                  {&x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Elements<float>(*(*results)[0]), ElementsAre(2, 4));
  EXPECT_THAT(Elements<float>(*(*results)[1]), ElementsAre(6, 12));
}

// Result 0 may be operand 0's memory; whether it is, the flag in result 1 tells.
absl::StatusOr<call::Kernel> Increment(const call::Signature&) {
  call::Kernel kernel;
  kernel.in_place = {{0, 0}};
  kernel.run = [](const call::Context&, absl::Span<const call::Array> operands,
                  absl::Span<const call::Array> results) {
    const float* x = static_cast<const float*>(operands[0].data);
    float* y = static_cast<float*>(results[0].data);
    for (int64_t i = 0; i < results[0].size(); ++i) y[i] = x[i] + 1;
    *static_cast<bool*>(results[1].data) = x == y;
    return absl::OkStatus();
  };
  return kernel;
}

TEST(CustomCall, MayWriteAResultOverAnOperandOnlyWhenNothingElseNeedsIt) {
  const auto client = ClientWith(Increment);
  const Literal x = Array<float>({2}, {1, 2});
  for (const bool is_needed : {false, true}) {
    const auto results = RunProgram(*client,
                                    absl::StrCat(R"(
      func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<i1>, tensor<2xf32>) {
        %0 = stablehlo.multiply %x, %x : tensor<2xf32>
        %1:2 = stablehlo.custom_call @f(%0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<i1>)
        %2 = stablehlo.reverse %1#0, dims = [0] : tensor<2xf32>
        %3 = stablehlo.subtract %2, )",
                                                 is_needed ? "%0" : "%x", R"( : tensor<2xf32>
        return %2, %1#1, %3 : tensor<2xf32>, tensor<i1>, tensor<2xf32>
      })"),
                                    {&x});
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_THAT(Elements<float>(*(*results)[0]), ElementsAre(5, 2));
    EXPECT_EQ((*results)[1]->data<bool>()[0], !is_needed);
    if (is_needed) {
      EXPECT_THAT(Elements<float>(*(*results)[2]), ElementsAre(4, -2));
    }
  }
}

TEST(CustomCall, RunsPartsOnTheClientsThreadsWithScratchOfTheirOwn) {
  for (const int threads : {1, 2, 3}) {
    const auto client = ClientWith(
        [](const call::Signature& signature) -> absl::StatusOr<call::Kernel> {
          EXPECT_EQ(signature.target, "f");
          EXPECT_EQ(signature.operands[0].data, nullptr);
          call::Kernel kernel;
          kernel.scratch_bytes = 8;
          kernel.run = [](const call::Context& context, absl::Span<const call::Array> operands,
                          absl::Span<const call::Array> results) {
            context.ParallelFor(operands[0].size(), [&](int64_t i, int thread) {
              EXPECT_LT(thread, context.num_threads());
              auto* scratch = reinterpret_cast<int64_t*>(context.scratch(thread));
              *scratch = static_cast<const int64_t*>(operands[0].data)[i];
              static_cast<int64_t*>(results[0].data)[i] = 2 * *scratch;
            });
            return absl::OkStatus();
          };
          return kernel;
        },
        threads);
    const Literal x = Array<int64_t>({1000}, Counting<int64_t>(1000));
    const auto results = RunProgram(*client,
                                    CallOf("(%x) : (tensor<1000xi64>) -> tensor<1000xi64>",
                                           "%x: tensor<1000xi64>", "tensor<1000xi64>"),
                                    {&x});
    ASSERT_TRUE(results.ok()) << results.status();
    for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ((*results)[0]->data<int64_t>()[i], 2 * i);
  }
}

TEST(CustomCall, FindsWhatTheApplicationHandsToOneExecution) {
  struct Counter {
    int calls = 0;
  };
  const auto client = ClientWith(call::Bind(
      [](const call::Context& context, call::Output<int32_t> y) -> absl::Status {
        const absl::StatusOr<Counter*> counter = context.Lookup<Counter>();
        y[0] = counter.ok() ? ++(*counter)->calls : -1;
        return absl::OkStatus();
      },
      call::Ctx(), call::Result<int32_t>(0)));
  const auto executable =
      client->Compile(CallOf("() {has_side_effect = true} : () -> tensor<i32>", "", "tensor<i32>"),
                      CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  ExecuteContext context;
  ASSERT_TRUE(context.ffi_context().Emplace<Counter>().ok());
  for (const int want : {-1, 1, 2}) {
    ExecuteOptions options;
    options.context = want > 0 ? &context : nullptr;
    auto results = (*executable)->Execute({{}}, options);
    ASSERT_TRUE(results.ok()) << results.status();
    EXPECT_EQ((*(*results)[0][0]->ToLiteralSync())->data<int32_t>()[0], want);
  }
}

TEST(CustomCall, RefusesASignatureThatTheFunctionHasNot) {
  const auto f = [](call::Input<float>, call::Output<float>) { return absl::OkStatus(); };
  const auto refusal = [&](absl::string_view call, absl::string_view arguments) {
    return Refusal(CallOf(call, arguments, "tensor<2xf32>"), f, call::Arg<float>(1),
                   call::Result<float>());
  };
  struct Case {
    const char *call, *arguments, *says;
  };
  for (const Case& c :
       std::vector<Case>{{"(%x) : (tensor<2xi32>) -> tensor<2xf32>", "%x: tensor<2xi32>",
                          "operand 0 is s32[2]; expected elements of type f32"},
                         {"(%x) : (tensor<1x2xf32>) -> tensor<2xf32>", "%x: tensor<1x2xf32>",
                          "operand 0 is f32[1,2]; expected rank 1"},
                         {"() : () -> tensor<2xf32>", "", "given 0 operands; expected 1"},
                         {"(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>",
                          "%x: tensor<2xf32>", "given 2 operands; expected 1"}}) {
    const absl::Status status = refusal(c.call, c.arguments);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.call;
    EXPECT_EQ(ErrorId(status), "PJRT-K002") << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat(": custom call @f: ", c.says)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("[PJRT-K002] <input>:2:"));
  }
}

TEST(CustomCall, RefusesMissingAndIllTypedAttributes) {
  const auto f = [](int32_t, call::Output<float>) { return absl::OkStatus(); };
  struct Case {
    const char *attributes, *says;
  };
  for (const Case& c :
       std::vector<Case>{{"{}", "the attribute 'k' is missing"},
                         {"{k = 1.0 : f32}", "the attribute 'k' is a float that"},
                         {"{k = 4294967296 : i64}", "the attribute 'k' is an integer that"},
                         {"{k = true}", "the attribute 'k' is a bool that"},
                         {"{k = [1.0, 2.0]}", "the attribute 'k' is a list of floats that"},
                         {"{k = {}}", "the attribute 'k' is a dictionary that"}}) {
    const absl::Status status = Refusal(
        CallOf(absl::StrCat("() {mhlo.backend_config = ", c.attributes, "} : () -> tensor<2xf32>"),
               "", "tensor<2xf32>"),
        f, call::Attr<int32_t>("k"), call::Result<float>());
    EXPECT_EQ(ErrorId(status), "PJRT-K002") << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.says));
  }
}

TEST(CustomCall, PassesOnWhatTheFunctionReturnsWithItsPlace) {
  const absl::Status status = Refusal(
      CallOf("() : () -> tensor<2xf32>", "", "tensor<2xf32>"),
      [](call::Output<float>) { return absl::OutOfRangeError("too far"); }, call::Result<float>());
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(ErrorId(status), "PJRT-K004");
  EXPECT_THAT(std::string(status.message()), HasSubstr("custom call @f: too far"));
}

TEST(CustomCall, RefusesKernelsThatCannotBeRun) {
  const std::string text = CallOf("() : () -> tensor<2xf32>", "", "tensor<2xf32>");
  const auto status_of = [&](call::Kernel kernel) {
    return RunProgram(*ClientWith([kernel](const call::Signature&) { return kernel; }), text)
        .status();
  };
  EXPECT_EQ(ErrorId(status_of({})), "PJRT-K002");
  call::Kernel kernel;
  kernel.run = [](const call::Context&, absl::Span<const call::Array>,
                  absl::Span<const call::Array>) { return absl::OkStatus(); };
  kernel.in_place = {{0, 0}};
  EXPECT_EQ(ErrorId(status_of(kernel)), "PJRT-K002");
  kernel.in_place = {{-1, 0}};
  EXPECT_EQ(ErrorId(status_of(kernel)), "PJRT-K002");
  const absl::Status own =
      RunProgram(*ClientWith([](const call::Signature&) {
        return absl::StatusOr<call::Kernel>(absl::UnimplementedError("not today"));
      }),
                 text)
          .status();
  EXPECT_EQ(own.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(own.message()), HasSubstr("not today"));
}

TEST(CustomCall, AnUnknownTargetIsRefusedWhereItCertainlyRuns) {
  struct Case {
    const char *target, *says;
  };
  for (const Case& c : std::vector<Case>{{"no_such", "registered"},
                                         {"cusolver_getrf_ffi", "lowered for cuda"},
                                         {"__gpu$xla.gpu.triton", "lowered for a GPU"},
                                         {"hipsolver_potrf", "lowered for rocm"},
                                         {"tpu_custom_call", "lowered for tpu"},
                                         {"xla_ffi_python_cpu_callback", "Python"}}) {
    const auto results = RunProgram(
        OneThreadClient(),
        absl::StrCat("func.func @main() -> tensor<f32> {\n  %0 = "
                     "stablehlo.custom_call @\"",
                     c.target, "\"() : () -> tensor<f32>\n  return %0 : tensor<f32>\n}"));
    EXPECT_EQ(results.status().code(), absl::StatusCode::kUnimplemented) << c.target;
    EXPECT_EQ(ErrorId(results.status()), "PJRT-K001") << results.status();
    EXPECT_THAT(std::string(results.status().message()), HasSubstr(c.says));
    EXPECT_THAT(std::string(results.status().message()), HasSubstr(c.target));
    EXPECT_THAT(std::string(results.status().message()), HasSubstr(":2:"));
  }
}

TEST(CustomCall, AnUnknownTargetIsRefusedInBranchesAndLoopsToo) {
  const auto refused = [](absl::string_view ops) {
    const std::string text =
        absl::StrCat("func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {", ops,
                     "\n  return %0 : tensor<f32>\n}");
    const absl::Status status = OneThreadClient().Compile(text, CompileOptions()).status();
    return std::string(ErrorId(status));
  };
  EXPECT_EQ(refused(R"(
    %0 = "stablehlo.if"(%p) ({
      stablehlo.return %x : tensor<f32>
    }, {
      %1 = stablehlo.custom_call @no_such(%x) : (tensor<f32>) -> tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>)"),
            "PJRT-K001");
  for (const absl::string_view target : {"no_such", "cusolver_getrf_ffi"}) {
    EXPECT_EQ(refused(absl::StrCat(R"(
    %3:2 = "stablehlo.while"(%x, %p) ({
    ^bb0(%a: tensor<f32>, %b: tensor<i1>):
      stablehlo.return %b : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<i1>):
      %1 = stablehlo.custom_call @)",
                                   target, R"((%a) : (tensor<f32>) -> tensor<f32>
      %2 = stablehlo.is_finite %1 : (tensor<f32>) -> tensor<i1>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i1>
    }) : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<i1>)
    %0 = stablehlo.abs %3#0 : tensor<f32>)")),
              "PJRT-K001");
  }
}

TEST(CustomCall, ACallOfAnotherPlatformInABranchFailsOnlyWhenItIsTaken) {
  constexpr char kText[] = R"(
    func.func @main(%i: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
      %0 = "stablehlo.case"(%i) ({
        stablehlo.return %x : tensor<f32>
      }, {
        %1 = stablehlo.custom_call @hipblas_thing(%x) : (tensor<f32>) -> tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<i32>) -> tensor<f32>
      return %0 : tensor<f32>
    })";
  const Literal zero = Scalar<int32_t>(0), one = Scalar<int32_t>(1), x = Scalar<float>(4);
  const auto results = RunProgram(OneThreadClient(), kText, {&zero, &x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ((*results)[0]->data<float>()[0], 4);
  const absl::Status status = RunProgram(OneThreadClient(), kText, {&one, &x}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(ErrorId(status), "PJRT-K001");
  EXPECT_THAT(std::string(status.message()), HasSubstr("rocm"));
}

// As jax.export writes it for several platforms: one case tells the platform's rule, another holds
// the rules.
TEST(CustomCall, AnExportForSeveralPlatformsRunsItsOwnBranch) {
  constexpr char kText[] = R"(
    func.func public @main(%i: tensor<i32> {jax.global_constant = "_platform_index"}, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %0 = "stablehlo.case"(%i) ({
        %2 = stablehlo.constant dense<1> : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }, {
        %2 = stablehlo.constant dense<0> : tensor<i32>
        stablehlo.return %2 : tensor<i32>
      }) : (tensor<i32>) -> tensor<i32>
      %1 = "stablehlo.case"(%0) ({
        %2:3 = stablehlo.custom_call @cusolver_potrf_ffi(%x) {mhlo.backend_config = {lower = true}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>, tensor<64xui8>)
        stablehlo.return %2#0 : tensor<2x2xf32>
      }, {
        %2:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
        stablehlo.return %2#0 : tensor<2x2xf32>
      }) : (tensor<i32>) -> tensor<2x2xf32>
      return %1 : tensor<2x2xf32>
    })";
  const Literal cpu = Scalar<int32_t>(0), cuda = Scalar<int32_t>(1);
  const Literal x = Array<float>({2, 2}, {4, 0, 2, 10});
  const auto results = RunProgram(OneThreadClient(), kText, {&cpu, &x});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(Elements<float>(*(*results)[0]), ElementsAre(2, 0, 1, 3));
  const absl::Status status = RunProgram(OneThreadClient(), kText, {&cuda, &x}).status();
  EXPECT_EQ(ErrorId(status), "PJRT-K001");
  EXPECT_THAT(std::string(status.message()), HasSubstr("lowered for cuda"));
}

TEST(CustomCall, CallsWithSideEffectsAreKeptAndRunInOrder) {
  const Literal yes = Preds({}, {1});
  std::vector<int64_t> seen;
  const auto client = ClientWith(call::Bind(
      [&seen](int64_t number, absl::Span<const call::Array>) {
        seen.push_back(number);
        return absl::OkStatus();
      },
      call::Attr<int64_t>("n"), call::RestResults()));
  const auto results = RunProgram(*client, R"(
    func.func @main(%p: tensor<i1>) {
      %t0 = stablehlo.create_token : !stablehlo.token
      %0 = stablehlo.custom_call @f() {has_side_effect = true, mhlo.backend_config = {n = 1}} : () -> tensor<f32>
      stablehlo.custom_call @f() {has_side_effect = true, mhlo.backend_config = {n = 2}} : () -> ()
      %1 = stablehlo.custom_call @f() {mhlo.backend_config = {n = 100}} : () -> tensor<f32>
      %2 = "stablehlo.if"(%p) ({
        %4 = stablehlo.custom_call @f() {has_side_effect = true, mhlo.backend_config = {n = 3}} : () -> tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }, {
        %4 = stablehlo.constant dense<0.0> : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }) : (tensor<i1>) -> tensor<f32>
      %3 = stablehlo.custom_call @f() {has_side_effect = true, mhlo.backend_config = {n = 4}} : () -> !stablehlo.token
      return
    })",
                                  {&yes});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_THAT(seen, ElementsAre(1, 2, 3, 4));
}

TEST(CustomCall, ExecutionsWithSideEffectsKeepTheirOrder) {
  std::vector<int32_t> seen;
  const auto client = ClientWith(call::Bind(
                                     [&seen](call::Input<int32_t> number) {
                                       seen.push_back(number[0]);
                                       return absl::OkStatus();
                                     },
                                     call::Arg<int32_t>(0)),
                                 /*threads=*/3);
  const auto executable = client->Compile(R"(
    func.func @main(%i: tensor<i32>) -> tensor<i32> {
      stablehlo.custom_call @f(%i) {has_side_effect = true} : (tensor<i32>) -> ()
      return %i : tensor<i32>
    })",
                                          CompileOptions());
  ASSERT_TRUE(executable.ok()) << executable.status();
  std::vector<Literal> numbers;
  for (int32_t i = 0; i < 50; ++i) numbers.push_back(Scalar<int32_t>(i));
  std::vector<std::unique_ptr<PjRtBuffer>> results;
  for (const Literal& number : numbers) {
    const auto arguments = ToDevice(*client, {&number});
    auto result = (*executable)->Execute({Pointers(arguments)}, ExecuteOptions());
    ASSERT_TRUE(result.ok()) << result.status();
    results.push_back(std::move((*result)[0][0]));
  }
  for (const auto& result : results) EXPECT_TRUE(result->GetReadyFuture().Await().ok());
  EXPECT_EQ(seen, Counting<int32_t>(50));
}

TEST(CustomCall, RegistriesRefuseNamesThatAreEmptyOrTaken) {
  CustomCallRegistry registry;
  EXPECT_EQ(ErrorId(registry.Register("", Increment)), "PJRT-K003");
  EXPECT_EQ(ErrorId(registry.Register("a", nullptr)), "PJRT-K003");
  EXPECT_TRUE(registry.Register("b", Increment).ok());
  EXPECT_TRUE(registry.Register("a", Increment).ok());
  EXPECT_EQ(registry.Register("a", Increment).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(registry.targets(), ElementsAre("a", "b"));
  EXPECT_NE(registry.Find("a"), nullptr);
  EXPECT_EQ(registry.Find("c"), nullptr);
}

}  // namespace
}  // namespace pjrt::cpu

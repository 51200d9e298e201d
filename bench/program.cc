// SPDX-License-Identifier: Apache-2.0
#include "bench/program.h"

#include <algorithm>
#include <chrono>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "bench/machine.h"
#include "pjrt/base/literal.h"
#include "pjrt/compile_options.h"
#include "pjrt/cpu/cpu_client.h"
#include "pjrt/device.h"
#include "pjrt/execute_options.h"
#include "pjrt/ir/module.h"

namespace pjrt::bench {
namespace {

template <typename T>
T OrExit(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

// Numbers between -1 and 1, or small integers: others for each `argument`.
Literal Filled(PrimitiveType type, absl::Span<const int64_t> dims, size_t argument) {
  uint32_t state = 1 + 2654435769u * static_cast<uint32_t>(argument);
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return IsInteger(type) ? static_cast<float>(state >> 29)
                           : static_cast<float>(static_cast<int32_t>(state)) / 2147483648.0f;
  };
  Literal numbers = OrExit(Literal::Make(MakeShape(IsComplex(type) ? C64 : F32, dims)));
  if (IsComplex(type)) {
    for (std::complex<float>& z : numbers.data<std::complex<float>>()) {
      const float re = next();
      z = {re, next()};
    }
  } else {
    for (float& v : numbers.data<float>()) v = next();
  }
  return OrExit(numbers.Convert(type));
}

}  // namespace

PjRtClient& Client(int threads) {
  static std::map<int, PjRtClient*>& clients = *new std::map<int, PjRtClient*>;
  PjRtClient*& client = clients[threads];
  if (client == nullptr) {
    CpuClientOptions options;
    options.threads = threads;
    options.max_cached_bytes = size_t{2} << 30;  // a large result takes the memory of the last one
    client = OrExit(GetCpuClient(options)).release();
  }
  return *client;
}

Program::Program(absl::string_view text, int threads) {
  PjRtClient& client = Client(threads);
  executable_ = OrExit(client.Compile(text, CompileOptions()));
  memory_ = OrExit(client.addressable_devices()[0]->default_memory_space());
  AddArguments(1);
  ExecuteAndWait();
}

void Program::AddArguments(int64_t size) {
  const std::shared_ptr<const ir::Module> module = OrExit(executable_->GetModules())[0];
  std::vector<PjRtBuffer*> arguments;
  for (const ir::Type type : module->EntryFunction().type().inputs()) {
    std::vector<int64_t> sizes(type.dims().begin(), type.dims().end());
    std::replace(sizes.begin(), sizes.end(), ir::kDynamic, size);
    const Literal literal = Filled(type.primitive_type(), sizes, arguments.size());
    inputs_.push_back(OrExit(memory_->client()->BufferFromHostLiteral(literal, memory_)));
    const absl::Status ready = inputs_.back()->GetReadyFuture().Await();
    if (!ready.ok()) OrExit(absl::StatusOr<int>(ready));
    arguments.push_back(inputs_.back().get());
  }
  arguments_.push_back(std::move(arguments));
}

std::vector<PjRtBuffer*>& Program::NextArguments() {
  if (++turn_ >= arguments_.size()) turn_ = 0;
  return arguments_[turn_];
}

void Program::Execute() {
  auto results = executable_->Execute({NextArguments()}, ExecuteOptions());
  if (!results.ok()) OrExit(absl::StatusOr<int>(results.status()));
}

void Program::ExecuteAndWait() {
  const auto results = OrExit(executable_->Execute({NextArguments()}, ExecuteOptions()));
  for (const std::unique_ptr<PjRtBuffer>& result : results[0]) {
    const absl::Status ready = result->GetReadyFuture().Await();
    if (!ready.ok()) OrExit(absl::StatusOr<int>(ready));
  }
}

double Repeat(benchmark::State& state, Program& program) {
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) program.ExecuteAndWait();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  return time.count() / static_cast<double>(state.iterations());
}

void MeasureOfBandwidth(benchmark::State& state, absl::string_view text, int64_t bytes) {
  const int threads = static_cast<int>(state.range(0));
  Program program(text, threads);
  const double bandwidth = CopyBandwidth(threads, bytes / 2);
  double least = 1e30;
  for (auto _ : state) {
    const double start = Now(threads);
    program.ExecuteAndWait();
    least = std::min(least, Now(threads) - start);
  }
  state.counters["of_bandwidth"] = static_cast<double>(bytes) / least / bandwidth;
}

void OverThreads(benchmark::internal::Benchmark* b) {
  b->ArgName("threads")->UseRealTime()->Unit(benchmark::kMicrosecond)->Arg(1);
  if (Cores() > 1) b->Arg(Cores());
}

void OverThreadsAndSizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"threads", "MiB"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (const int64_t size : {4, 256}) b->Args({1, size});
  if (Cores() == 1) return;
  for (const int64_t size : {4, 256}) b->Args({Cores(), size});
}

std::string AxpyText(int64_t n) {
  return absl::StrReplaceAll(R"(
    func.func @main(%a: tensor<f32>, %x: tensor<Nxf32>, %y: tensor<Nxf32>) -> tensor<Nxf32> {
      %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<Nxf32>
      %1 = stablehlo.multiply %0, %x : tensor<Nxf32>
      %2 = stablehlo.add %1, %y : tensor<Nxf32>
      return %2 : tensor<Nxf32>
    })",
                             {{"N", absl::StrCat(n)}});
}

std::string AnyAxpyText() {
  return R"(
    func.func @main(%a: tensor<f32>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %s = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
      %1 = stablehlo.multiply %0, %x : tensor<?xf32>
      %2 = stablehlo.add %1, %y : tensor<?xf32>
      return %2 : tensor<?xf32>
    })";
}

std::string PlatformsAxpyText() {
  return R"(
    func.func @main(%p: tensor<i32> {jax.global_constant = "_platform_index"}, %x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
      %0 = "stablehlo.case"(%p) ({
        %1 = stablehlo.multiply %x, %y : tensor<1xf32>
        stablehlo.return %1 : tensor<1xf32>
      }, {
        %1 = stablehlo.subtract %x, %y : tensor<1xf32>
        stablehlo.return %1 : tensor<1xf32>
      }) : (tensor<i32>) -> tensor<1xf32>
      %2 = stablehlo.add %0, %y : tensor<1xf32>
      return %2 : tensor<1xf32>
    })";
}

std::string UnreadIndexAxpyText() {
  return R"(
    func.func @main(%p: tensor<i32>, %x: tensor<1xf32>, %y: tensor<1xf32>) -> tensor<1xf32> {
      %0 = stablehlo.multiply %x, %y : tensor<1xf32>
      %1 = stablehlo.add %0, %y : tensor<1xf32>
      return %1 : tensor<1xf32>
    })";
}

std::string MatmulText(int64_t m, int64_t n, int64_t k, absl::string_view element,
                       bool a_is_transposed) {
  const auto matrix = [&](int64_t rows, int64_t columns, absl::string_view type) {
    return absl::StrCat("tensor<", rows, "x", columns, "x", type, ">");
  };
  const std::string a = a_is_transposed ? matrix(k, m, element) : matrix(m, k, element);
  const std::string b = matrix(k, n, element);
  const std::string c = matrix(m, n, element == "i8" ? "i32" : element);
  return absl::StrCat("func.func @main(%a: ", a, ", %b: ", b, ") -> ", c,
                      " {\n  %0 = stablehlo.dot_general %a, %b, contracting_dims = [",
                      a_is_transposed ? 0 : 1, "] x [0] : (", a, ", ", b, ") -> ", c,
                      "\n  return %0 : ", c, "\n}\n");
}

std::string MlpText() {
  const auto dense = [](int layer, int in, int out) {
    return absl::StrReplaceAll(
        R"(
      %dL = stablehlo.dot_general %hL, %wL, contracting_dims = [1] x [0] : (tensor<128xINxf32>, tensor<INxOUTxf32>) -> tensor<128xOUTxf32>
      %rL = stablehlo.reshape %bL : (tensor<OUTxf32>) -> tensor<1xOUTxf32>
      %eL = stablehlo.broadcast_in_dim %rL, dims = [0, 1] : (tensor<1xOUTxf32>) -> tensor<128xOUTxf32>
      %sL = stablehlo.add %dL, %eL : tensor<128xOUTxf32>)",
        {{"L", absl::StrCat(layer)}, {"IN", absl::StrCat(in)}, {"OUT", absl::StrCat(out)}});
  };
  const auto relu = [](int layer) {
    return absl::StrReplaceAll(R"(
      %zL = stablehlo.constant dense<0.0> : tensor<f32>
      %yL = stablehlo.broadcast_in_dim %zL, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
      %hM = stablehlo.maximum %sL, %yL : tensor<128x512xf32>)",
                               {{"L", absl::StrCat(layer)}, {"M", absl::StrCat(layer + 1)}});
  };
  return absl::StrCat(R"(
    func.func @main(%w0: tensor<784x512xf32>, %b0: tensor<512xf32>, %w1: tensor<512x512xf32>, %b1: tensor<512xf32>,
                    %w2: tensor<512x10xf32>, %b2: tensor<10xf32>, %h0: tensor<128x784xf32>) -> tensor<128x10xf32> {)",
                      dense(0, 784, 512), relu(0), dense(1, 512, 512), relu(1), dense(2, 512, 10),
                      R"(
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %max = stablehlo.reduce(%s2 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
      %maxes = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
      %shifted = stablehlo.subtract %s2, %maxes : tensor<128x10xf32>
      %exp = stablehlo.exponential %shifted : tensor<128x10xf32>
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
      %sums = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
      %out = stablehlo.divide %exp, %sums : tensor<128x10xf32>
      return %out : tensor<128x10xf32>
    })");
}

}  // namespace pjrt::bench

// SPDX-License-Identifier: Apache-2.0
//
// A device of one's own under PJRT: a toy that adds and multiplies f32 arrays, in memory that the
// host can reach. It implements pjrt::Backend; buffers, readiness, errors, layouts and dynamic
// shapes are the common client's. docs/backend.md is the guide to it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "pjrt/backend/backend.h"
#include "pjrt/backend/common_client.h"
#include "pjrt/base/literal_compare.h"
#include "pjrt/host_memory_spaces.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/passes.h"
#include "pjrt/pjrt.h"

namespace ir = pjrt::ir;

// Memory, and what to do when nobody needs it any more.
class ToyMemory final : public pjrt::RawBuffer {
 public:
  using Release = absl::AnyInvocable<void() &&>;
  ToyMemory(int memory, size_t size, void* data, bool is_writable, Release release)
      : RawBuffer(memory, size, data, /*host_pointer=*/data, is_writable),
        release_(std::move(release)) {}

 private:
  ~ToyMemory() override {
    if (release_ != nullptr) std::move(release_)();
  }

  Release release_;
};

using Operation = float (*)(float, float);

// Makes one more value of two that there are. Values are numbered: the arguments first.
struct Instruction {
  Operation operation;
  size_t lhs, rhs;
};

struct ToyProgram final : pjrt::DeviceProgram {
  using DeviceProgram::DeviceProgram;
  std::vector<Instruction> instructions;
  std::vector<size_t> results;
};

Operation FindOperation(const ir::Op& op) {
  switch (op.opcode()) {
    case ir::OpCode::kAdd:
      return [](float a, float b) { return a + b; };
    case ir::OpCode::kMultiply:
      return [](float a, float b) { return a * b; };
    default:
      return nullptr;
  }
}

class ToyBackend final : public pjrt::Backend {
 public:
  ToyBackend() {
    device_.local_device_id = 0;
    device_.kind = "toy";
    device_.to_string = device_.debug_string = "ToyDevice(id=0)";
    memory_.kind = "device";
    memory_.kind_id = pjrt::FingerprintKind(memory_.kind);
    memory_.to_string = memory_.debug_string = "ToyMemory(id=0)";
  }

  absl::string_view platform_name() const override { return "toy"; }
  absl::string_view platform_version() const override { return "1"; }
  absl::Span<const pjrt::BackendDevice> devices() const override { return {&device_, 1}; }
  absl::Span<const pjrt::BackendMemory> memories() const override { return {&memory_, 1}; }
  const pjrt::BackendLimits& limits() const override { return limits_; }

  absl::StatusOr<pjrt::RawBufferRef> Allocate(int memory, size_t size) override {
    const size_t alignment = limits_.alignment;
    void* data = std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
    if (data == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("Out of memory allocating ", size, " bytes."));
    }
    return Import(memory, data, size, /*is_writable=*/true, [data] { std::free(data); });
  }

  absl::StatusOr<pjrt::RawBufferRef> Import(int memory, void* data, size_t size, bool is_writable,
                                            ToyMemory::Release on_release) override {
    return pjrt::RawBufferRef::Adopt(
        new ToyMemory(memory, size, data, is_writable, std::move(on_release)));
  }

  absl::StatusOr<std::shared_ptr<const pjrt::DeviceProgram>> Compile(
      std::unique_ptr<ir::Module> module, const pjrt::CompileOptions& /*options*/,
      const pjrt::ResolvedAssignment& /*assignment*/) override {
    // Leaves one function of plain StableHLO ops.
    absl::Status status = ir::RunPasses(module.get(), ir::StandardPasses());
    if (!status.ok()) return status;
    const ir::Function entry = module->EntryFunction();
    if (!entry || entry.body() == nullptr) return absl::InvalidArgumentError("nothing to run");

    pjrt::ProgramInfo info;
    info.name = std::string(module->name());
    std::vector<Instruction> instructions;
    absl::flat_hash_map<const ir::Value*, size_t> numbers;
    for (const ir::Value* argument : entry.body()->arguments()) {
      if (argument->type().primitive_type() != pjrt::F32) {
        return absl::UnimplementedError("the toy takes arrays of f32");
      }
      info.parameters.emplace_back().shape = ShapeOf(argument->type());
      numbers.emplace(argument, numbers.size());
    }
    std::vector<size_t> results;
    for (const ir::Op* op : *entry.body()) {
      if (op->IsTerminator()) {
        for (size_t i = 0; i < op->num_operands(); ++i) {
          info.results.emplace_back().shape = ShapeOf(op->operand_type(i));
          results.push_back(numbers.at(op->operand(i)));
        }
        break;
      }
      const Operation operation = FindOperation(*op);
      if (operation == nullptr) {
        return absl::UnimplementedError(absl::StrCat("the toy has no ", op->name()));
      }
      instructions.push_back({operation, numbers.at(op->operand(0)), numbers.at(op->operand(1))});
      numbers.emplace(op->result(), numbers.size());
    }
    info.result_is_tuple = results.size() != 1;
    auto program = std::make_shared<ToyProgram>(std::move(info));
    program->instructions = std::move(instructions);
    program->results = std::move(results);
    return program;
  }

  pjrt::Future<> Launch(const pjrt::LaunchArgs& args) override {
    const auto& program = static_cast<const ToyProgram&>(*args.program);
    std::vector<std::vector<float>> values;
    for (size_t i = 0; i < args.inputs.size(); ++i) {
      const auto* data = static_cast<const float*>(args.inputs[i].buffer->device_pointer());
      values.emplace_back(data, data + ElementCount(program.info().parameters[i].shape));
    }
    for (const Instruction& instruction : program.instructions) {
      std::vector<float> made = values[instruction.lhs];
      std::transform(made.begin(), made.end(), values[instruction.rhs].begin(), made.begin(),
                     instruction.operation);
      values.push_back(std::move(made));
    }
    for (size_t i = 0; i < program.results.size(); ++i) {
      const std::vector<float>& value = values[program.results[i]];
      auto raw = Allocate(/*memory=*/0, value.size() * sizeof(float));
      if (!raw.ok()) return raw.status();
      std::copy(value.begin(), value.end(), static_cast<float*>((*raw)->device_pointer()));
      args.outputs[i] = *std::move(raw);
    }
    return absl::OkStatus();  // done in the call; a device with a queue returns a future
  }

 private:
  static pjrt::Shape ShapeOf(ir::Type type) {
    return pjrt::MakeShapeWithDescendingLayout(type.primitive_type(), type.dims());
  }

  pjrt::BackendDevice device_;
  pjrt::BackendMemory memory_;
  pjrt::BackendLimits limits_;
};

constexpr char kProgram[] = R"(
  func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = call @square(%x) : (tensor<?xf32>) -> tensor<?xf32>
    %1 = stablehlo.add %0, %x : tensor<?xf32>
    return %1 : tensor<?xf32>
  }
  func.func private @square(%x: tensor<?xf32>) -> tensor<?xf32> {
    %0 = stablehlo.multiply %x, %x : tensor<?xf32>
    return %0 : tensor<?xf32>
  })";

absl::Status RunExample() {
  auto client = pjrt::MakeCommonPjRtClient(std::make_unique<ToyBackend>(), {});
  if (!client.ok()) return client.status();
  auto memory = (*client)->addressable_devices()[0]->default_memory_space();
  if (!memory.ok()) return memory.status();
  auto executable = (*client)->Compile(kProgram, pjrt::CompileOptions());
  if (!executable.ok()) return executable.status();

  const pjrt::Literal input = pjrt::CreateR1<float>({1, 2, 3, 4});
  auto x = (*client)->BufferFromHostLiteral(input, *memory);
  if (!x.ok()) return x.status();
  auto results = (*executable)->Execute({{x->get()}}, pjrt::ExecuteOptions());
  if (!results.ok()) return results.status();
  auto literal = (*results)[0][0]->ToLiteralSync();
  if (!literal.ok()) return literal.status();
  std::printf("%s on %s\n", (*literal)->ToString().c_str(),
              std::string((*client)->platform_name()).c_str());
  return pjrt::CompareExact(**literal, pjrt::CreateR1<float>({2, 6, 12, 20})).ToStatus();
}

int main() {
  const absl::Status status = RunExample();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

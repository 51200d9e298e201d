// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/scalar_step.h"

#include <cstring>

#include "absl/strings/str_cat.h"

namespace pjrt::cpu {
namespace {

void Move(void* to, const void* from, int size) {
  switch (size) {
    case 1:
      std::memcpy(to, from, 1);
      break;
    case 2:
      std::memcpy(to, from, 2);
      break;
    case 4:
      std::memcpy(to, from, 4);
      break;
    default:
      std::memcpy(to, from, 8);
  }
}

}  // namespace

absl::Status ScalarStep::Run(const RunContext& context) const {
  uint64_t* const registers = reinterpret_cast<uint64_t*>(context.member_scratch(0));
  uint64_t* constant = registers;
  for (uint64_t bits : program_.constants) *constant++ = bits;
  for (const auto& [reg, buffer] : program_.pointers)
    registers[reg] = reinterpret_cast<uint64_t>(context.buffer(buffer));
  for (const ScalarProgram::Transfer& load : program_.loads) {
    registers[load.reg] = 0;
    Move(&registers[load.reg], context.buffer(load.buffer) + load.offset, load.size);
  }
  RunScalarCode(program_.code.data(), registers);
  for (const ScalarProgram::Transfer& store : program_.stores)
    Move(context.buffer(store.buffer) + store.offset, &registers[store.reg], store.size);
  return absl::OkStatus();
}

std::string ScalarStep::Describe() const {
  return absl::StrCat("scalar program of ", steps_, " steps: ", program_.code.size(),
                      " instructions, ", program_.num_registers, " registers");
}

}  // namespace pjrt::cpu

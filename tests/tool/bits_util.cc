// SPDX-License-Identifier: Apache-2.0
#include "tests/tool/bits_util.h"

#include <cstring>
#include <utility>

#include "pjrt/executable.h"
#include "pjrt/ir/parser.h"
#include "pjrt/program.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/execution.h"
#include "tools/pjrt/fill.h"

namespace pjrt::tool {

std::unique_ptr<PjRtClient> ClientWith(int threads, const std::string& isa) {
  CommonOptions options;
  options.threads = threads;
  options.isa = isa;
  auto client = MakeClient(options);
  return client.ok() ? *std::move(client) : nullptr;
}

absl::StatusOr<std::vector<Literal>> SmallArguments(absl::string_view program) {
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<ir::Module> module, ir::ParseModule(program));
  std::vector<Literal> literals;
  for (const ir::Type type : module->EntryFunction().type().inputs()) {
    if (!type.IsTensor()) return absl::UnimplementedError("an argument that is no array");
    Fill fill;
    fill.kind = Fill::Kind::kUniform;
    fill.seed = literals.size() + 1;
    fill.low = -3;
    fill.high = 3;
    fill.integer_low =
        IsSignedInteger(type.primitive_type()) ? static_cast<uint64_t>(int64_t{-3}) : 0;
    fill.integer_high = 4;
    PJRT_ASSIGN_OR_RETURN(Literal literal,
                          MakeFilled(MakeShape(type.primitive_type(), type.dims()), fill));
    literals.push_back(std::move(literal));
  }
  return literals;
}

absl::StatusOr<Results> RunOn(PjRtClient* client, const std::string& program,
                              absl::Span<const Literal> arguments) {
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtLoadedExecutable> executable,
                        client->Compile(PjRtProgram(program), CompileOptions()));
  PJRT_ASSIGN_OR_RETURN(const Buffers buffers, ToDevice(client, arguments));
  PJRT_ASSIGN_OR_RETURN(const Buffers outputs, Execute(*executable, Handles(buffers)));
  return ToHost(outputs);
}

bool SameBits(const Results& a, const Results& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const LiteralBase& x = *a[i];
    const LiteralBase& y = *b[i];
    if (x.size_bytes() != y.size_bytes() ||
        (x.size_bytes() > 0 &&
         std::memcmp(x.untyped_data(), y.untyped_data(), x.size_bytes()) != 0))
      return false;
  }
  return true;
}

}  // namespace pjrt::tool

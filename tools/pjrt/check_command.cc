// SPDX-License-Identifier: Apache-2.0
//
// pjrt check: runs programs that test themselves.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pjrt/ir/verifier.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/case_report.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/execution.h"
#include "tools/pjrt/program_file.h"
#include "tools/pjrt/self_test.h"

namespace pjrt::tool {
namespace {

absl::Status RunSelfTest(PjRtClient* client, const ir::Module& module,
                         const std::string& function) {
  PJRT_ASSIGN_OR_RETURN(SelfTest test, MakeSelfTest(module, function));
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtLoadedExecutable> executable,
                        client->Compile(std::move(test.module), CompileOptions()));
  PJRT_ASSIGN_OR_RETURN(const Buffers outputs, ExecuteToEnd(*executable, {}));
  PJRT_ASSIGN_OR_RETURN(const std::vector<std::shared_ptr<Literal>> results, ToHost(outputs));
  for (const Print& print : test.prints)
    std::fprintf(stderr, "%s %s\n", print.type.c_str(), results[print.result]->ToString().c_str());
  return CompareResults(test.checks, results);
}

void Record(const std::string& name, const absl::Status& status, CaseReport* report) {
  if (status.ok()) {
    report->Pass(name);
  } else if (status.code() == absl::StatusCode::kUnimplemented) {
    report->Skip(name, status.message());
  } else {
    report->Fail(name, status.message());
  }
}

void CheckChunk(PjRtClient* client, const std::string& path,
                const absl::StatusOr<std::unique_ptr<ir::Module>>& module, CaseReport* report) {
  absl::Status status = module.status();
  if (status.ok()) status = ir::VerifyModule(**module);
  std::vector<std::string> functions;
  if (module.ok()) functions = TestFunctions(**module);
  if (!status.ok()) {
    // Of a program that can't be read nobody knows what its functions are called.
    Record(absl::StrCat(path, " @", functions.empty() ? "?" : functions[0]), status, report);
    return;
  }
  for (const std::string& function : functions) {
    Record(absl::StrCat(path, " @", function), RunSelfTest(client, **module, function), report);
  }
}

}  // namespace

int CheckFiles(const CheckOptions& options) {
  const absl::StatusOr<std::unique_ptr<PjRtClient>> client = MakeClient(options.common);
  if (!client.ok()) return Report(client.status());
  CaseReport report(options.common.quiet);
  int unreadable = kOk;
  for (const std::string& path : options.files) {
    const absl::StatusOr<ProgramFile> program = ReadProgram(path);
    if (!program.ok()) {
      unreadable = Report(program.status());
      continue;
    }
    for (const auto& module : ParseChunks(*program)) {
      CheckChunk(client->get(), path, module, &report);
    }
  }
  const int result = report.Finish();
  return unreadable != kOk ? unreadable : result;
}

}  // namespace pjrt::tool

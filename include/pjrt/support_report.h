// SPDX-License-Identifier: Apache-2.0
//
// SupportReport: whether a device can run a program, and if not, why not.
#ifndef PJRT_SUPPORT_REPORT_H_
#define PJRT_SUPPORT_REPORT_H_

#include <string>
#include <vector>

namespace pjrt {

// kMaybe: nothing speaks against it, but only compiling will tell.
enum class Support { kYes, kMaybe, kNo };

// How much work a support query may do.
enum class SupportEffort {
  kQuick,     // look at each op by itself
  kThorough,  // do what compiling does, short of generating code
};

// One reason why a program isn't, or may not be, supported.
struct SupportReason {
  Support verdict = Support::kNo;  // kNo or kMaybe
  std::string op;                  // "stablehlo.sort"; empty when it isn't about one op
  std::string types;               // the op's type, "(tensor<4xf8E5M2>) -> tensor<4xf8E5M2>"
  std::string location;            // "model.mlir:12:5", as good as the program knows
  std::string reason;              // one sentence
};

// The answer to a support query. kYes: compiling will succeed unless memory runs out. kNo:
// compiling will fail with UNIMPLEMENTED, and `reasons` lists each op that is in the way, not just
// the first.
struct SupportReport {
  Support verdict = Support::kMaybe;
  std::vector<SupportReason> reasons;

  bool IsSupported() const { return verdict == Support::kYes; }
  // "yes", or the verdict and one line a reason.
  std::string ToString() const;
};

}  // namespace pjrt

#endif  // PJRT_SUPPORT_REPORT_H_

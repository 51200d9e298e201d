// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/custom_calls/lapack_forms.h"

#include <algorithm>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/core/base/status_macros.h"

namespace pjrt::cpu {
namespace {

using custom_call::Array;
using custom_call::Signature;
using Sizes = absl::InlinedVector<int64_t, 6>;

enum class Field : uint8_t { kAny, kReal, kComplex };

// A way to write a call: parameters as operands of rank 0, then operands and results by part. `_`
// is a workspace; `*` at the end stands for any number of them.
struct Form {
  Routine routine;
  int scalars;
  absl::string_view operands, results;
  Field field = Field::kAny;
  bool is_portable = false;  // of XLA's own names only
};

constexpr Form kForms[] = {
    {Routine::kPotrf, 0, "a", "ai"},
    {Routine::kPotrf, 3, "a", "ai"},
    {Routine::kGetrf, 0, "a", "api"},
    {Routine::kGetrf, 3, "a", "api"},
    {Routine::kGetrf, 0, "a", "apq", Field::kAny, /*is_portable=*/true},
    {Routine::kGeqrf, 0, "a", "at"},
    {Routine::kGeqrf, 0, "a", "ati*"},
    {Routine::kGeqrf, 4, "a", "ati*"},
    {Routine::kGeqp3, 0, "ap", "apt"},
    {Routine::kGeqp3, 0, "ap", "apti*"},
    {Routine::kGeqp3, 4, "ap", "apti*"},
    {Routine::kOrgqr, 0, "at", "a"},
    {Routine::kOrgqr, 0, "at", "ai*"},
    {Routine::kOrgqr, 5, "at", "ai*"},
    {Routine::kOrmqr, 0, "atc", "c"},
    {Routine::kTrsm, 0, "ab", "b"},
    {Routine::kTrsm, 0, "abf", "b"},
    {Routine::kTrsm, 8, "ab", "b"},
    {Routine::kSyevd, 0, "a", "aw", Field::kAny, /*is_portable=*/true},
    {Routine::kSyevd, 0, "a", "awi*"},
    {Routine::kSyevd, 3, "a", "awi*"},
    {Routine::kGesdd, 0, "a", "awuvi*"},
    {Routine::kGesdd, 6, "a", "awuvi*"},
    {Routine::kGeev, 0, "a", "wxuvi*", Field::kReal},
    {Routine::kGeev, 0, "a", "wuvi*", Field::kComplex},
    {Routine::kGeev, 4, "a", "___wxuvi", Field::kReal},
    {Routine::kGeev, 4, "a", "__wuvi", Field::kComplex},
    {Routine::kGees, 0, "a", "auwxzi*", Field::kReal},
    {Routine::kGees, 0, "a", "auwzi*", Field::kComplex},
    {Routine::kGees, 0, "a", "awxuzi*", Field::kReal},
    {Routine::kGees, 0, "a", "awuzi*", Field::kComplex},
    {Routine::kGees, 4, "a", "awxuzi", Field::kReal},
    {Routine::kGees, 4, "a", "a_wuzi", Field::kComplex},
    {Routine::kGehrd, 0, "a", "ati*"},
    {Routine::kGehrd, 6, "a", "ati*"},
    {Routine::kSytrd, 0, "a", "aweti*"},
    {Routine::kSytrd, 0, "a", "atwei*"},
    {Routine::kSytrd, 5, "a", "aweti*"},
    {Routine::kGtsv, 0, "ldsb", "ldsbi"},
    {Routine::kTridiagonalPerturbed, 0, "ldsb", "b"},
    {Routine::kCsrDense, 0, "aprb", "c"},
};

struct RoutineName {
  absl::string_view name;
  Routine routine;
};

constexpr RoutineName kLettered[] = {
    {"potrf", Routine::kPotrf}, {"getrf", Routine::kGetrf}, {"geqrf", Routine::kGeqrf},
    {"geqp3", Routine::kGeqp3}, {"orgqr", Routine::kOrgqr}, {"ungqr", Routine::kOrgqr},
    {"ormqr", Routine::kOrmqr}, {"unmqr", Routine::kOrmqr}, {"trsm", Routine::kTrsm},
    {"syevd", Routine::kSyevd}, {"heevd", Routine::kSyevd}, {"gesdd", Routine::kGesdd},
    {"gesvd", Routine::kGesdd}, {"geev", Routine::kGeev},   {"gees", Routine::kGees},
    {"gehrd", Routine::kGehrd}, {"sytrd", Routine::kSytrd}, {"hetrd", Routine::kSytrd},
    {"gtsv", Routine::kGtsv},
};

constexpr RoutineName kPortable[] = {
    {"Qr", Routine::kGeqrf},
    {"ProductOfElementaryHouseholderReflectors", Routine::kOrgqr},
    {"Eigh", Routine::kSyevd},
    {"LuDecomposition", Routine::kGetrf},
    {"tridiagonal_solve_perturbed_ffi", Routine::kTridiagonalPerturbed},
    {"cpu_csr_sparse_dense_ffi", Routine::kCsrDense},
};

PrimitiveType RealOfType(PrimitiveType type) {
  return type == C64 ? F32 : type == C128 ? F64 : type;
}
PrimitiveType ComplexOfType(PrimitiveType type) {
  return type == F32 ? C64 : type == F64 ? C128 : type;
}

std::string ArrayText(PrimitiveType type, absl::Span<const int64_t> dims) {
  return absl::StrCat(PrimitiveTypeName(type), "[", absl::StrJoin(dims, ","), "]");
}

// Matches one form against a signature.
class FormReader {
 public:
  FormReader(const Form& form, const LapackName& name, const Signature& signature)
      : form_(form), signature_(signature) {
    call_.routine = name.routine;
    call_.zero_based = form.results == "apq";
  }

  // Whether there are as many operands and results as the form has.
  bool CountsFit() const {
    const absl::string_view results = absl::StripSuffix(form_.results, "*");
    const size_t operands = form_.operands.size() + static_cast<size_t>(form_.scalars);
    return signature_.operands.size() == operands &&
           (signature_.results.size() == results.size() ||
            (signature_.results.size() > results.size() && results.size() < form_.results.size()));
  }

  absl::StatusOr<LapackCall> Read(PrimitiveType type) {
    for (size_t i = 0; i < form_.operands.size(); ++i)
      call_.operands.Set(form_.operands[i], static_cast<int>(i) + form_.scalars);
    for (size_t i = 0; i < form_.results.size(); ++i) {
      if (form_.results[i] != '_' && form_.results[i] != '*')
        call_.results.Set(form_.results[i], static_cast<int>(i));
    }
    call_.type = type;
    PJRT_RETURN_IF_ERROR(ReadSizes());
    for (const char part : form_.operands) PJRT_RETURN_IF_ERROR(Check(part, /*is_result=*/false));
    for (const char part : absl::StripSuffix(form_.results, "*"))
      PJRT_RETURN_IF_ERROR(Check(part, /*is_result=*/true));
    return call_;
  }

 private:
  const Array& operand(char part) const {
    return signature_.operands[static_cast<size_t>(call_.operands[part])];
  }
  const Array& result(char part) const {
    return signature_.results[static_cast<size_t>(call_.results[part])];
  }
  absl::Status Error(absl::string_view message) const {
    return custom_call::SignatureError(message);
  }

  absl::Status ReadSizes() {
    if (call_.routine == Routine::kCsrDense) return ReadSparseSizes();
    const bool is_tridiagonal = call_.operands.Has('d');
    const Array& a = operand(is_tridiagonal ? 'b' : 'a');
    if (a.rank() < 2) return Error("a matrix must have rank 2 or more");
    batch_.assign(a.dims.begin(), a.dims.end() - 2);
    for (int64_t d : batch_) call_.batch *= d;
    call_.m = a.dims[a.dims.size() - 2];
    call_.n = is_tridiagonal ? call_.m : a.dims.back();
    const char other = call_.operands.Has('b') ? 'b' : call_.operands.Has('c') ? 'c' : 0;
    if (other != 0) {
      const Array& b = operand(other);
      if (b.rank() != a.rank()) return Error("operands must have as many dimensions");
      call_.rows = b.dims[b.dims.size() - 2];
      call_.columns = b.dims.back();
    }
    if (call_.operands.Has('t')) {
      const Array& taus = operand('t');
      if (taus.rank() != a.rank() - 1) return Error("taus must have one dimension less than a");
      call_.reflectors = taus.dims.back();
    }
    switch (call_.routine) {
      case Routine::kPotrf:
      case Routine::kTrsm:
      case Routine::kSyevd:
      case Routine::kGeev:
      case Routine::kGees:
      case Routine::kGehrd:
      case Routine::kSytrd:
        if (call_.m != call_.n) return Error("the matrix must be square");
        break;
      case Routine::kOrgqr:
        if (call_.reflectors > std::min(call_.m, call_.n)) return Error("too many taus");
        break;
      case Routine::kOrmqr:
        if (call_.reflectors > std::min(call_.m, call_.n)) return Error("too many taus");
        if (call_.m != call_.rows && call_.m != call_.columns)
          return Error("a must have as many rows as c has rows or columns");
        break;
      case Routine::kGesdd:
        call_.full_vectors = result('u').rank() > 0 && result('u').dims.back() == call_.m &&
                             result('v').rank() > 1 &&
                             result('v').dims[result('v').dims.size() - 2] == call_.n;
        break;
      default:
        break;
    }
    if (call_.routine == Routine::kTrsm && call_.n != call_.rows && call_.n != call_.columns)
      return Error("a must be as large as one side of b");
    return absl::OkStatus();
  }

  absl::Status ReadSparseSizes() {
    const Array& dense = operand('b');
    const Array& starts = operand('p');
    if (dense.rank() < 1 || dense.rank() > 2 || starts.rank() != 1 || starts.dims[0] < 1)
      return Error("expected row starts of rank 1 and a dense operand of rank 1 or 2");
    call_.m = starts.dims[0] - 1;
    call_.n = dense.dims[0];
    call_.rows = dense.dims[0];
    call_.columns = dense.rank() == 2 ? dense.dims[1] : 1;
    call_.reflectors = operand('a').size();
    if (starts.type == S64) call_.index_type = S64;
    return absl::OkStatus();
  }

  // The type and sizes that a part has to have; unchecked when that is what the sizes were read of.
  absl::Status Check(char part, bool is_result) {
    if (part == '_') return absl::OkStatus();
    const Array& array = is_result ? result(part) : operand(part);
    const int64_t k = std::min(call_.m, call_.n);
    const PrimitiveType real = RealOfType(call_.type);
    PrimitiveType type = call_.type;
    Sizes sizes = batch_;
    const auto of = [&](std::initializer_list<int64_t> matrix) {
      sizes.insert(sizes.end(), matrix.begin(), matrix.end());
    };
    if (call_.routine == Routine::kCsrDense) {
      if (part == 'p' || part == 'r') type = call_.index_type;
      if (part == 'a' || part == 'r') of({call_.reflectors});
      if (part == 'p') of({call_.m + 1});
      if (part == 'b') of({call_.rows});
      if (part == 'c') of({call_.m});
      if ((part == 'b' || part == 'c') && operand('b').rank() == 2) of({call_.columns});
      return Expect(array, type, sizes, is_result);
    }
    switch (part) {
      case 'a':
        of({call_.m, call_.n});
        break;
      case 'b':
      case 'c':
        of({call_.rows, call_.columns});
        break;
      case 'd':
      case 'l':
      case 's':
        of({call_.n});
        break;
      case 'e':
        type = real;
        of({std::max<int64_t>(call_.n - 1, 0)});
        break;
      case 'f':
        sizes.clear();
        break;
      case 'i':
      case 'z':
        type = S32;
        break;
      case 'p':
        type = S32;
        of({call_.routine == Routine::kGeqp3 ? call_.n : k});
        break;
      case 'q':
        type = S32;
        of({call_.m});
        break;
      case 't':
        if (!is_result) {
          of({call_.reflectors});
        } else if (call_.routine == Routine::kGehrd || call_.routine == Routine::kSytrd) {
          of({std::max<int64_t>(call_.n - 1, 0)});
        } else {
          of({k});
        }
        break;
      case 'u':
      case 'v':
        if (call_.routine == Routine::kGeev) type = ComplexOfType(type);
        if (call_.routine != Routine::kGesdd) {
          of({call_.n, call_.n});
        } else if (part == 'u') {
          of({call_.m, call_.full_vectors ? call_.m : k});
        } else {
          of({call_.full_vectors ? call_.n : k, call_.n});
        }
        break;
      case 'w':
      case 'x':
        if (call_.routine != Routine::kGeev && call_.routine != Routine::kGees) type = real;
        of({call_.routine == Routine::kGesdd ? k : call_.n});
        break;
      default:
        break;
    }
    return Expect(array, type, sizes, is_result);
  }

  absl::Status Expect(const Array& array, PrimitiveType type, const Sizes& sizes,
                      bool is_result) const {
    if (array.type == type && array.dims == absl::MakeConstSpan(sizes)) return absl::OkStatus();
    return Error(absl::StrCat(is_result ? "a result" : "an operand", " is ",
                              ArrayText(array.type, array.dims), "; expected ",
                              ArrayText(type, sizes)));
  }

  const Form& form_;
  const Signature& signature_;
  LapackCall call_;
  Sizes batch_;
};

// An attribute that is a letter, a number or a bool.
absl::Status ReadOption(const Signature& signature, absl::string_view name,
                        absl::string_view letters, LapackOption* option) {
  const custom_call::Attribute* attribute = signature.attributes->Find(name);
  if (attribute == nullptr) {
    return custom_call::SignatureError(absl::StrCat("the attribute '", name, "' is missing"));
  }
  if (const bool* flag = attribute->As<bool>()) {
    option->value = *flag;
    return absl::OkStatus();
  }
  const int64_t* number = attribute->As<int64_t>();
  const bool is_letter =
      number != nullptr &&
      (letters.empty() ||
       (*number > 0 && *number < 128 && absl::StrContains(letters, static_cast<char>(*number))));
  if (!is_letter) {
    return custom_call::SignatureError(
        absl::StrCat("the attribute '", name, "' is none of the codes of '", letters, "'"));
  }
  option->value = *number;
  return absl::OkStatus();
}

absl::Status ReadAttributes(const Signature& signature, LapackCall* call) {
  switch (call->routine) {
    case Routine::kPotrf:
    case Routine::kSytrd:
      return ReadOption(signature, "uplo", "LU", &call->uplo);
    case Routine::kSyevd:
      PJRT_RETURN_IF_ERROR(ReadOption(signature, "mode", "VN", &call->vectors));
      return ReadOption(signature, "uplo", "LU", &call->uplo);
    case Routine::kOrmqr:
      PJRT_RETURN_IF_ERROR(ReadOption(signature, "left", "", &call->side));
      return ReadOption(signature, "transpose", "", &call->trans);
    case Routine::kTrsm:
      PJRT_RETURN_IF_ERROR(ReadOption(signature, "side", "LR", &call->side));
      PJRT_RETURN_IF_ERROR(ReadOption(signature, "uplo", "LU", &call->uplo));
      PJRT_RETURN_IF_ERROR(ReadOption(signature, "trans_x", "NTC", &call->trans));
      return ReadOption(signature, "diag", "NU", &call->diag);
    case Routine::kGesdd:
      return ReadOption(signature, "mode", "ASN", &call->vectors);
    case Routine::kGeev:
      PJRT_RETURN_IF_ERROR(ReadOption(signature, "compute_left", "VN", &call->vectors));
      return ReadOption(signature, "compute_right", "VN", &call->right_vectors);
    case Routine::kGees:
      return ReadOption(signature, "mode", "VN", &call->vectors);
    case Routine::kGehrd:
      PJRT_RETURN_IF_ERROR(ReadOption(signature, "low", "", &call->low));
      return ReadOption(signature, "high", "", &call->high);
    default:
      return absl::OkStatus();
  }
}

// Parameters that are operands: which is which.
void ReadScalars(LapackCall* call) {
  switch (call->routine) {
    case Routine::kPotrf:
      call->uplo.operand = 0;
      break;
    case Routine::kSyevd:
      call->uplo.operand = 0;
      call->vectors.value = 'V';
      break;
    case Routine::kTrsm:
      call->side.operand = 0;
      call->uplo.operand = 1;
      call->trans.operand = 2;
      call->diag.operand = 3;
      call->operands.Set('f', 7);
      break;
    case Routine::kGesdd:
      call->vectors.operand = 1;
      break;
    case Routine::kGeev:
      call->vectors.operand = 2;
      call->right_vectors.operand = 3;
      break;
    case Routine::kGees:
      call->vectors.operand = 2;
      break;
    case Routine::kGehrd:
      call->low.operand = 1;
      call->high.operand = 2;
      break;
    case Routine::kSytrd:
      call->uplo.operand = 1;
      break;
    default:
      break;
  }
}

// XLA's own calls: Eigh has "lower,sort,max_iter,tol".
void ReadPortable(const Signature& signature, LapackCall* call) {
  if (call->routine != Routine::kSyevd) return;
  const std::vector<absl::string_view> fields = absl::StrSplit(signature.backend_config, ',');
  int64_t lower = 1;
  if (!absl::SimpleAtoi(fields[0], &lower)) lower = 1;
  call->uplo.value = lower != 0;
  call->vectors.value = 'V';
}

bool IsScalarParameter(const Array& array) {
  return array.rank() == 0 &&
         (array.type == S32 || array.type == U8 || array.type == S64 || array.type == PRED ||
          IsFloating(array.type) || IsComplex(array.type));
}

}  // namespace

int64_t LapackOption::Read(absl::Span<const Array> operands) const {
  if (operand < 0) return value;
  const Array& array = operands[static_cast<size_t>(operand)];
  switch (array.type) {
    case PRED:
    case U8:
      return *static_cast<const uint8_t*>(array.data);
    case S64:
      return *static_cast<const int64_t*>(array.data);
    default:
      return *static_cast<const int32_t*>(array.data);
  }
}

LapackName ParseLapackName(absl::string_view target) {
  for (const RoutineName& row : kPortable) {
    if (row.name == target) return {row.routine, INVALID, !absl::EndsWith(target, "_ffi")};
  }
  if (!absl::ConsumePrefix(&target, "lapack_") && !absl::ConsumePrefix(&target, "blas_")) return {};
  absl::ConsumeSuffix(&target, "_ffi");
  if (target.empty()) return {};
  const PrimitiveType type = target[0] == 's'   ? F32
                             : target[0] == 'd' ? F64
                             : target[0] == 'c' ? C64
                             : target[0] == 'z' ? C128
                                                : INVALID;
  if (type == INVALID) return {};
  for (const RoutineName& row : kLettered) {
    if (row.name == target.substr(1)) return {row.routine, type};
  }
  return {};
}

absl::StatusOr<LapackCall> ReadLapackCall(const LapackName& name, const Signature& signature) {
  PrimitiveType type = name.type;
  if (type == INVALID && !signature.operands.empty()) type = signature.operands[0].type;
  const bool is_known = type == F32 || type == F64 || type == C64 || type == C128 ||
                        (name.routine == Routine::kCsrDense && (type == S32 || type == S64));
  if (!is_known) {
    return custom_call::SignatureError(
        absl::StrCat("there is none of elements of type ", PrimitiveTypeName(type)));
  }
  int scalars = 0;
  while (static_cast<size_t>(scalars) < signature.operands.size() &&
         IsScalarParameter(signature.operands[static_cast<size_t>(scalars)]))
    ++scalars;
  absl::Status first_error;
  for (const Form& form : kForms) {
    if (form.routine != name.routine || form.scalars != scalars) continue;
    if (form.is_portable && !name.is_portable) continue;
    if (form.field != Field::kAny && (form.field == Field::kComplex) != IsComplex(type)) continue;
    FormReader reader(form, name, signature);
    if (!reader.CountsFit()) continue;
    absl::StatusOr<LapackCall> call = reader.Read(type);
    if (!call.ok()) {
      if (first_error.ok()) first_error = call.status();
      continue;
    }
    if (scalars > 0) {
      // The last may be a factor, of type T.
      const int codes = name.routine == Routine::kTrsm ? scalars - 1 : scalars;
      for (int i = 0; i < codes; ++i) {
        if (!IsInteger(signature.operands[static_cast<size_t>(i)].type) &&
            signature.operands[static_cast<size_t>(i)].type != PRED)
          return custom_call::SignatureError(absl::StrCat("operand ", i, " must be an integer"));
      }
      if (name.routine == Routine::kTrsm && signature.operands[7].type != type)
        return custom_call::SignatureError("operand 7 must be of the matrices' type");
      ReadScalars(&*call);
    } else if (name.is_portable) {
      ReadPortable(signature, &*call);
    } else {
      PJRT_RETURN_IF_ERROR(ReadAttributes(signature, &*call));
    }
    return call;
  }
  if (!first_error.ok()) return first_error;
  return custom_call::SignatureError(
      absl::StrCat("there is no form of it with ", scalars, " parameters, ",
                   signature.operands.size() - static_cast<size_t>(scalars), " other operands and ",
                   signature.results.size(), " results"));
}

}  // namespace pjrt::cpu

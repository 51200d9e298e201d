// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/workload.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <filesystem>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "pjrt/base/literal_compare.h"
#include "pjrt/base/npy.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/program_file.h"

namespace pjrt::tool {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

absl::StatusOr<Shape> ReadShape(const Json& json) {
  PJRT_ASSIGN_OR_RETURN(const PrimitiveType type,
                        ParsePrimitiveType(json.at("type").get<std::string>()));
  const Shape shape = MakeShape(type, json.at("shape").get<std::vector<int64_t>>());
  PJRT_RETURN_IF_ERROR(ValidateShape(shape));
  if (!shape.IsArray()) return InvalidArgument("PJRT-T011", "'type' is no array's");
  return shape;
}

// The bits of an integer; a float is converted.
uint64_t IntegerBits(const Json& number) {
  if (number.is_number_unsigned()) return number.get<uint64_t>();
  return static_cast<uint64_t>(number.get<int64_t>());
}

absl::StatusOr<Fill> ReadFill(const Json& json) {
  Fill fill;
  const std::string kind = json.at("kind").get<std::string>();
  if (kind == "uniform") {
    fill.kind = Fill::Kind::kUniform;
  } else if (kind == "iota") {
    fill.kind = Fill::Kind::kIota;
  } else if (kind == "zeros") {
    fill.kind = Fill::Kind::kZeros;
  } else if (kind == "ones") {
    fill.kind = Fill::Kind::kOnes;
  } else {
    return InvalidArgument("PJRT-T011", "unknown fill '", Shorten(kind),
                           "'; expected uniform, iota, zeros or ones");
  }
  fill.seed = json.contains("seed") ? IntegerBits(json["seed"]) : 0;
  fill.low = json.value("low", 0.0);
  fill.high = json.value("high", 1.0);
  if (json.contains("low")) fill.integer_low = IntegerBits(json["low"]);
  if (json.contains("high")) fill.integer_high = IntegerBits(json["high"]);
  return fill;
}

absl::StatusOr<Workload> ReadJson(const Json& json, const fs::path& folder) {
  Workload workload;
  workload.name = json.value("name", folder.filename().string());
  workload.partitions = json.value("partitions", 1);
  const std::string check = json.value("check", "");
  workload.parse_only = check == "parse_only" || json.value("parse_only", false);
  workload.is_ambiguous = check == "jax_specific";
  if (workload.parse_only && !json.contains("inputs")) return workload;
  for (const Json& item : json.at("inputs")) {
    WorkloadInput& input = workload.inputs.emplace_back();
    PJRT_ASSIGN_OR_RETURN(input.shape, ReadShape(item));
    if (item.contains("fill")) {
      PJRT_ASSIGN_OR_RETURN(input.fill, ReadFill(item["fill"]));
    } else {
      input.file = (folder / item.at("file").get<std::string>()).string();
    }
  }
  if (workload.parse_only && !json.contains("outputs")) return workload;
  for (const Json& item : json.at("outputs")) {
    WorkloadOutput& output = workload.outputs.emplace_back();
    PJRT_ASSIGN_OR_RETURN(output.shape, ReadShape(item));
    output.file = (folder / item.at("file").get<std::string>()).string();
    output.sample_step = item.value("sample_step", int64_t{1});
    output.rtol = item.value("rtol", json.value("rtol", 0.0));
    output.atol = item.value("atol", json.value("atol", 0.0));
    if (output.sample_step < 1) return InvalidArgument("PJRT-T011", "'sample_step' is below 1");
    if (!(output.rtol >= 0 && output.atol >= 0)) {
      return InvalidArgument("PJRT-T011", "a tolerance is negative");
    }
  }
  return workload;
}

// Elements 0, step, 2 * step, ... of a row-major array as a flat one.
absl::StatusOr<Literal> Sample(const LiteralBase& array, int64_t step) {
  const PrimitiveType type = array.shape().element_type();
  const int64_t size = array.element_count();
  const int64_t count = size / step + (size % step != 0 ? 1 : 0);
  PJRT_ASSIGN_OR_RETURN(Literal sample, Literal::MakeUninitialized(MakeShape(type, {count})));
  const size_t width = static_cast<size_t>(ByteWidth(type));
  const char* from = static_cast<const char*>(array.untyped_data());
  char* to = static_cast<char*>(sample.untyped_data());
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + static_cast<size_t>(i) * width, from + static_cast<size_t>(i * step) * width,
                width);
  }
  return sample;
}

// Complex numbers by modulus. A part that is the same NaN or infinity on both sides is equal, and
// the other is then compared alone.
template <typename T>
void CompareComplex(const LiteralBase& got, const LiteralBase& want, const WorkloadOutput& output,
                    Verdict* verdict, int64_t* first) {
  const absl::Span<const T> a = got.data<T>();
  const absl::Span<const T> b = want.data<T>();
  for (size_t i = 0; i < a.size(); ++i) {
    double x[2] = {a[i].real(), a[i].imag()};
    double y[2] = {b[i].real(), b[i].imag()};
    for (int p = 0; p < 2; ++p) {
      const bool same = (std::isnan(x[p]) && std::isnan(y[p])) || x[p] == y[p];
      if (same && !std::isfinite(x[p])) x[p] = y[p] = 0;
    }
    const double error = std::abs(std::complex<double>(x[0] - y[0], x[1] - y[1]));
    if (error == 0) continue;
    const double bound = output.atol + output.rtol * std::abs(std::complex<double>(y[0], y[1]));
    const double ratio =
        std::isfinite(error) && bound > 0 ? error / bound : std::numeric_limits<double>::infinity();
    verdict->max_error = std::fmax(verdict->max_error, ratio);
    if (ratio <= 1) continue;
    ++verdict->mismatches;
    if (*first < 0) *first = static_cast<int64_t>(i);
  }
}

bool AllFinite(const LiteralBase& literal) {
  const int64_t count = literal.element_count();
  if (!IsFloating(literal.shape().element_type())) return true;
  const absl::StatusOr<Literal> wide = literal.Convert(F64);
  if (!wide.ok()) return false;
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(wide->data<double>()[static_cast<size_t>(i)])) return false;
  }
  return true;
}

void AddMismatch(size_t output, absl::string_view what, Verdict* verdict) {
  verdict->ok = false;
  if (verdict->first_mismatch.empty()) {
    verdict->first_mismatch = absl::StrCat("output ", output, ": ", what);
  }
}

}  // namespace

absl::StatusOr<Workload> ReadWorkload(const std::string& folder) {
  const std::string path = (fs::path(folder) / "workload.json").string();
  const absl::StatusOr<std::string> bytes = ReadInputFile(path);
  if (!bytes.ok()) {
    return InvalidArgument("PJRT-T011", folder,
                           ": is a folder without a readable workload.json; expected a program or "
                           "a workload");
  }
  try {
    absl::StatusOr<Workload> workload = ReadJson(Json::parse(*bytes), fs::absolute(folder));
    if (!workload.ok()) return WithContext(workload.status(), path);
    return workload;
  } catch (const Json::exception& error) {
    return InvalidArgument("PJRT-T011", path, ": ", Shorten(error.what()));
  }
}

absl::StatusOr<std::vector<Literal>> MakeInputs(const Workload& workload) {
  std::vector<Literal> literals;
  for (const WorkloadInput& input : workload.inputs) {
    const std::string place = absl::StrCat("input ", literals.size());
    absl::StatusOr<Literal> literal = input.fill.has_value()
                                          ? MakeFilled(input.shape, *input.fill)
                                          : ReadNpyFile(input.file, input.shape.element_type());
    if (!literal.ok()) return WithContext(literal.status(), place);
    if (literal->shape().dimensions() != input.shape.dimensions()) {
      return InvalidArgument("PJRT-T012", input.file, ": holds ",
                             literal->shape().ToString(/*print_layout=*/false), "; expected ",
                             input.shape.ToString());
    }
    literals.push_back(*std::move(literal));
  }
  return literals;
}

absl::StatusOr<Verdict> CheckOutputs(const Workload& workload,
                                     absl::Span<const LiteralBase* const> results) {
  Verdict verdict;
  if (results.size() != workload.outputs.size()) {
    verdict.ok = false;
    verdict.first_mismatch = absl::StrCat("the program has ", results.size(), " results; expected ",
                                          workload.outputs.size());
    return verdict;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const WorkloadOutput& output = workload.outputs[i];
    const LiteralBase& result = *results[i];
    if (!Shape::Equal().IgnoreLayout()(result.shape(), output.shape)) {
      AddMismatch(i,
                  absl::StrCat("got ", result.shape().ToString(/*print_layout=*/false), ", want ",
                               output.shape.ToString()),
                  &verdict);
      continue;
    }
    if (workload.is_ambiguous) {
      if (!AllFinite(result)) AddMismatch(i, "an element is not finite", &verdict);
      continue;
    }
    PJRT_ASSIGN_OR_RETURN(const Literal file,
                          ReadNpyFile(output.file, output.shape.element_type()));
    PJRT_ASSIGN_OR_RETURN(const Literal got, Sample(result, output.sample_step));
    PJRT_ASSIGN_OR_RETURN(const Literal want, Sample(file, 1));
    if (want.element_count() != got.element_count()) {
      return InvalidArgument("PJRT-T012", output.file, ": holds ", want.element_count(),
                             " elements; expected ", got.element_count());
    }
    int64_t first = -1;
    if (IsComplex(output.shape.element_type())) {
      if (output.shape.element_type() == C64) {
        CompareComplex<std::complex<float>>(got, want, output, &verdict, &first);
      } else {
        CompareComplex<std::complex<double>>(got, want, output, &verdict, &first);
      }
    } else {
      const CompareReport report = CompareClose(got, want, output.atol, output.rtol);
      verdict.max_error = std::fmax(verdict.max_error, report.max_error_ratio);
      verdict.mismatches += report.mismatches;
      if (!report.ok) first = report.first_mismatch_index[0];
    }
    if (first >= 0) {
      AddMismatch(i,
                  absl::StrCat("element ", first * output.sample_step, ": got ",
                               got.GetAsString({first}), ", want ", want.GetAsString({first})),
                  &verdict);
    }
  }
  return verdict;
}

}  // namespace pjrt::tool

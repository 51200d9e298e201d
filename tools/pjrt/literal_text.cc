// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/literal_text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/type_dispatch.h"

namespace pjrt::tool {
namespace {

constexpr size_t kMaxRank = 64;

absl::Status Malformed(absl::string_view text, absl::string_view why) {
  return InvalidArgument("PJRT-T004", "'", Shorten(text, 60), "' is no array: ", why,
                         "; expected for example 3.5 or [[1,2],[3,4]]");
}

// The sizes of nested lists and the scalars in them, in order.
struct NestedList {
  std::vector<int64_t> dims;
  std::vector<absl::string_view> scalars;
};

absl::StatusOr<NestedList> SplitList(absl::string_view text) {
  NestedList list;
  std::vector<int64_t> counts;                       // of the lists that are open, outermost first
  size_t rank = std::numeric_limits<size_t>::max();  // unknown until the first scalar
  bool value_expected = true;
  size_t at = 0;
  const auto skip_blanks = [&] {
    while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
  };
  for (skip_blanks(); at < text.size(); skip_blanks()) {
    const char c = text[at];
    if (c == '[' && value_expected) {
      if (counts.size() == kMaxRank) return Malformed(text, "brackets nested too deep");
      if (!counts.empty()) ++counts.back();
      if (counts.size() >= rank) return Malformed(text, "lists and numbers side by side");
      counts.push_back(0);
      if (list.dims.size() < counts.size()) list.dims.push_back(-1);
      ++at;
    } else if (c == ']' && !counts.empty() && (!value_expected || counts.back() == 0)) {
      int64_t& size = list.dims[counts.size() - 1];
      if (size >= 0 && size != counts.back()) return Malformed(text, "lists of different lengths");
      size = counts.back();
      counts.pop_back();
      value_expected = false;
      ++at;
    } else if (c == ',' && !value_expected && !counts.empty()) {
      value_expected = true;
      ++at;
    } else if (value_expected && c != ']' && c != ',') {
      const size_t end = c == '(' ? text.find(')', at) + 1 : text.find_first_of(", \t\n[]", at);
      if (end == 0) return Malformed(text, "a '(' without ')'");
      if (rank == std::numeric_limits<size_t>::max()) rank = counts.size();
      if (rank != counts.size() || list.dims.size() != rank) {
        return Malformed(text, "lists and numbers side by side");
      }
      list.scalars.push_back(text.substr(at, end - at));
      if (!counts.empty()) ++counts.back();
      value_expected = false;
      at = end == absl::string_view::npos ? text.size() : end;
    } else {
      return Malformed(text, absl::StrCat("unexpected '", std::string(1, c), "'"));
    }
    if (counts.empty() && !value_expected) {
      skip_blanks();
      if (at != text.size()) return Malformed(text, "something follows its end");
      // Lists that no list was inside of, as the second one of [[],[]], have no size of their own.
      for (int64_t& size : list.dims) size = size < 0 ? 0 : size;
      return list;
    }
  }
  return Malformed(text, text.empty() ? "it is empty" : "it is cut short");
}

template <typename Float>
bool ParseFloat(absl::string_view text, Float* value) {
  if constexpr (std::is_same_v<Float, double>) {
    return absl::SimpleAtod(text, value);
  } else if constexpr (std::is_same_v<Float, float>) {
    return absl::SimpleAtof(text, value);
  } else {
    double wide;
    if (!absl::SimpleAtod(text, &wide)) return false;
    *value = static_cast<Float>(wide);
    return true;
  }
}

template <PrimitiveType type>
bool ParseScalar(absl::string_view text, typename NativeTypeOf<type>::type* value) {
  using T = typename NativeTypeOf<type>::type;
  if constexpr (type == PRED) {
    *value = text == "true" || text == "1";
    return *value || text == "false" || text == "0";
  } else if constexpr (IsSignedInteger(type)) {
    int64_t wide;
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max() >> (64 - BitWidth(type));
    if (!absl::SimpleAtoi(text, &wide) || wide > kMax || wide < -kMax - 1) return false;
    *value = static_cast<T>(wide);
    return true;
  } else if constexpr (IsUnsignedInteger(type)) {
    uint64_t wide;
    constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max() >> (64 - BitWidth(type));
    if (!absl::SimpleAtoi(text, &wide) || wide > kMax) return false;
    *value = static_cast<T>(wide);
    return true;
  } else if constexpr (IsComplex(type)) {
    using Part = typename T::value_type;
    Part real, imag = 0;
    if (!text.empty() && text.front() == '(') {
      text = text.substr(1, text.size() - 2);
      const size_t comma = text.find(',');
      if (comma == absl::string_view::npos) return false;
      if (!ParseFloat(absl::StripAsciiWhitespace(text.substr(comma + 1)), &imag)) return false;
      text = absl::StripAsciiWhitespace(text.substr(0, comma));
    }
    if (!ParseFloat(text, &real)) return false;
    *value = T(real, imag);
    return true;
  } else {
    return ParseFloat(text, value);
  }
}

}  // namespace

bool HasSizesOf(absl::Span<const int64_t> sizes, const Shape& shape) {
  if (static_cast<int64_t>(sizes.size()) != shape.rank()) return false;
  for (int d = 0; d < shape.dimensions_size(); ++d) {
    const bool fits = shape.is_unbounded_dynamic_dimension(d) ? true
                      : shape.is_dynamic_dimension(d)         ? sizes[d] <= shape.dimensions(d)
                                                              : sizes[d] == shape.dimensions(d);
    if (!fits) return false;
  }
  return true;
}

absl::StatusOr<Literal> ParseLiteralText(absl::string_view text, const Shape& shape) {
  PJRT_ASSIGN_OR_RETURN(const NestedList list, SplitList(text));
  const Shape sized = MakeShape(shape.element_type(), list.dims);
  if (!HasSizesOf(list.dims, shape)) {
    return InvalidArgument("PJRT-T005", "'", Shorten(text, 60), "' has the shape ",
                           sized.ToString(/*print_layout=*/false), "; expected ",
                           shape.ToString(/*print_layout=*/false));
  }
  PJRT_ASSIGN_OR_RETURN(Literal literal, Literal::Make(sized));
  absl::Status status;
  VisitArrayType(shape.element_type(), [&](auto constant) {
    constexpr PrimitiveType kType = decltype(constant)::value;
    using T = typename NativeTypeOf<kType>::type;
    const absl::Span<T> elements = literal.data<T>();
    for (size_t i = 0; i < elements.size(); ++i) {
      if (ParseScalar<kType>(list.scalars[i], &elements[i])) continue;
      status = InvalidArgument("PJRT-T005", "'", Shorten(list.scalars[i], 60), "' is no ",
                               PrimitiveTypeName(kType));
      return;
    }
  });
  PJRT_RETURN_IF_ERROR(status);
  return literal;
}

}  // namespace pjrt::tool

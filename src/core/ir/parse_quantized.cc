// SPDX-License-Identifier: Apache-2.0
//
// !quant.uniform<...>: per tensor, per axis and per block.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "src/core/ir/element.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {

// i8, u8, ui8, si8, each with or without <min:max>.
bool Parser::ParseQuantizedStorage(QuantizedParams* params) {
  absl::string_view name = tok_.text();
  const bool is_unsigned = Is(TokenKind::kBareId) && name[0] == 'u';
  int width = 0;
  if (Is(TokenKind::kBareId)) {
    if (name[0] == 'u' || name[0] == 's') name.remove_prefix(1);
    if (!name.empty() && name[0] == 'i') name.remove_prefix(1);
    for (char c : name)
      width = c >= '0' && c <= '9' && width < 1000 ? width * 10 + (c - '0') : 1000;
  }
  if (width < 1 || width > 32) {
    return Fail(ParseError::kQuantized, tok_.begin, "malformed storage type",
                "an integer type of 1 to 32 bits such as i8 or u8", FoundToken());
  }
  Next();
  params->storage_type =
      context_->Integer(width, is_unsigned ? Signedness::kUnsigned : Signedness::kSignless);
  const int64_t lowest = is_unsigned ? 0 : -(int64_t{1} << (width - 1));
  const int64_t highest = (int64_t{1} << (is_unsigned ? width : width - 1)) - 1;
  params->storage_min = lowest;
  params->storage_max = highest;
  if (!Is(TokenKind::kLess)) return true;
  const char* const at = tok_.begin;
  Next();
  if (!ParseInt64(&params->storage_min, "the smallest stored value") ||
      !Expect(TokenKind::kColon) || !ParseInt64(&params->storage_max, "the largest stored value") ||
      !Expect(TokenKind::kGreater, "to close the range")) {
    return false;
  }
  if (params->storage_min < lowest || params->storage_max > highest ||
      params->storage_min >= params->storage_max) {
    return Fail(ParseError::kQuantized, at, "impossible range of stored values",
                absl::StrCat("a minimum below the maximum, both from ", lowest, " to ", highest),
                absl::StrCat(params->storage_min, ":", params->storage_max));
  }
  return true;
}

bool Parser::ParseScale(const QuantizedParams& params, std::vector<double>* scales,
                        std::vector<int64_t>* zero_points) {
  const char* const at = tok_.begin;
  double scale;
  int64_t zero_point = 0;
  if (!ParseDouble(&scale, "a scale such as 0.5")) return false;
  double rounded = scale;
  if (char bits[sizeof(double)]; IsCodedFloat(params.expressed_type)) {
    EncodeFloat(params.expressed_type, scale, bits);
    rounded = DecodeFloat(params.expressed_type, bits);
  }
  if (!std::isfinite(rounded) || rounded <= 0) {
    return Fail(ParseError::kQuantized, at, "impossible scale",
                "a positive, finite number of the expressed type", absl::StrCat(scale));
  }
  if (Is(TokenKind::kColon)) {
    Next();
    if (!ParseInt64(&zero_point, "a zero point")) return false;
  }
  scales->push_back(scale);
  zero_points->push_back(zero_point);
  return true;
}

// Nested braces of scales, which must make a box: `dims` gets the number of items at each depth
// from the first one seen.
bool Parser::ParseScaleTree(const QuantizedParams& params, size_t depth, std::vector<int64_t>* dims,
                            std::vector<double>* scales, std::vector<int64_t>* zero_points) {
  Level level(this);
  if (!level.ok()) return false;
  const char* const at = tok_.begin;
  int64_t count = 0;
  const bool first = dims->size() == depth;
  if (first) dims->push_back(0);
  const bool leaves_known = !scales->empty();
  if (!ParseList(TokenKind::kLBrace, TokenKind::kRBrace, "the scales", [&] {
        ++count;
        if (Is(TokenKind::kLBrace)) {
          if (leaves_known && depth + 1 >= dims->size())
            return Unexpected("a scale, as elsewhere at this depth");
          if (count > 1 && depth + 1 >= dims->size()) return Unexpected("a scale, as before it");
          return ParseScaleTree(params, depth + 1, dims, scales, zero_points);
        }
        if (depth + 1 < dims->size()) return Unexpected("'{', as elsewhere at this depth");
        return ParseScale(params, scales, zero_points);
      })) {
    return false;
  }
  if (first) (*dims)[depth] = count;
  if (count != (*dims)[depth] || count == 0) {
    return Fail(
        ParseError::kQuantized, at, "uneven lists of scales",
        count == 0 ? "at least one item" : absl::StrCat((*dims)[depth], " items, as before"),
        absl::StrCat(count));
  }
  return true;
}

bool Parser::ParseQuantized(Type* type) {
  Next();
  QuantizedParams params;
  Int64List axes, blocks;
  std::vector<int64_t> scale_dims, zero_points;
  std::vector<double> scales;
  bool per_block = false;
  if (!Expect(TokenKind::kLess) || !ParseQuantizedStorage(&params) ||
      !Expect(TokenKind::kColon, "and the expressed type")) {
    return false;
  }
  const char* const expressed_at = tok_.begin;
  if (!ParseType(&params.expressed_type)) return false;
  if (!params.expressed_type.Is(TypeKind::kFloat)) {
    return Fail(ParseError::kQuantized, expressed_at, "malformed expressed type", "a float type",
                Quoted(params.expressed_type.ToString()));
  }
  if (Accept(TokenKind::kColon)) {
    per_block = Is(TokenKind::kLBrace);
    const auto parse_axis = [&] {
      const char* const at = tok_.begin;
      axes.emplace_back();
      if (!ParseInt64(&axes.back(), "a dimension")) return false;
      if (axes.back() < 0) {
        return Fail(ParseError::kQuantized, at, "negative dimension", "0 or more",
                    absl::StrCat(axes.back()));
      }
      return true;
    };
    if (!per_block) {
      if (!parse_axis()) return false;
    } else if (!ParseList(TokenKind::kLBrace, TokenKind::kRBrace, "the block sizes", [&] {
                 if (!parse_axis() || !Expect(TokenKind::kColon, "and a block size")) return false;
                 const char* const at = tok_.begin;
                 blocks.emplace_back();
                 if (!ParseInt64(&blocks.back(), "a block size")) return false;
                 if (blocks.back() > 0) return true;
                 return Fail(ParseError::kQuantized, at, "impossible block size", "1 or more",
                             absl::StrCat(blocks.back()));
               })) {
      return false;
    }
  }
  if (per_block && axes.empty())
    return Unexpected("a dimension and its block size in the braces before it");
  if (!Expect(TokenKind::kComma, "and the scales")) return false;
  const char* const scales_at = tok_.begin;
  if (per_block) {
    if (!Is(TokenKind::kLBrace)) return Unexpected("'{' and the scales of the blocks");
    if (!ParseScaleTree(params, 0, &scale_dims, &scales, &zero_points)) return false;
  } else if (!axes.empty()) {
    if (!ParseList(TokenKind::kLBrace, TokenKind::kRBrace, "the scales",
                   [&] { return ParseScale(params, &scales, &zero_points); })) {
      return false;
    }
    if (scales.empty()) {
      return Fail(ParseError::kQuantized, scales_at, "no scales",
                  "one for each index of the dimension", "none");
    }
  } else if (!ParseScale(params, &scales, &zero_points)) {
    return false;
  }
  if (!Expect(TokenKind::kGreater, "to close the quantized type")) return false;
  params.axes = axes;
  params.block_sizes = blocks;
  params.scale_dims = scale_dims;
  params.scales = scales;
  params.zero_points = zero_points;
  *type = context_->Quantized(params);
  return true;
}

}  // namespace pjrt::ir

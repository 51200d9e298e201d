// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/npy.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "src/core/base/checked_math.h"
#include "src/core/base/error.h"
#include "src/core/base/logical_reader.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/strided_copy.h"
#include "src/core/base/text_scanner.h"
#include "src/core/base/type_dispatch.h"

namespace pjrt {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kHeaderAlignment = 64;

// The dtypes that NumPy names, apart from their byte order.
struct Dtype {
  const char* name;
  PrimitiveType type;  // INVALID: raw bytes
  int bytes;
};
constexpr Dtype kDtypes[] = {
    {"b1", PRED, 1}, {"i1", S8, 1},     {"i2", S16, 2},     {"i4", S32, 4},
    {"i8", S64, 8},  {"u1", U8, 1},     {"u2", U16, 2},     {"u4", U32, 4},
    {"u8", U64, 8},  {"f2", F16, 2},    {"f4", F32, 4},     {"f8", F64, 8},
    {"c8", C64, 8},  {"c16", C128, 16}, {"V1", INVALID, 1}, {"V2", INVALID, 2}};

absl::Status CutShort(size_t have, absl::string_view what, int64_t need) {
  return InvalidArgument("PJRT-B014", "the .npy data ends after ", have, " bytes; ", what,
                         " needs ", need);
}

uint32_t LittleEndian(absl::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return value;
}

absl::Status SetDtype(NpyHeader& header) {
  absl::string_view name = header.descr;
  const char order = name.empty() ? '\0' : name.front();
  const bool has_order = order == '<' || order == '>' || order == '|' || order == '=';
  if (has_order) name.remove_prefix(1);
  for (const Dtype& dtype : kDtypes) {
    if (name != dtype.name) continue;
    if (order == '>' && dtype.bytes > 1 && dtype.type != INVALID) {
      return InvalidArgument("PJRT-B016", "the .npy data has dtype \"", header.descr,
                             "\", which is big-endian; save it as little-endian");
    }
    header.type = dtype.type;
    header.item_bytes = dtype.bytes;
    return absl::OkStatus();
  }
  return InvalidArgument(
      "PJRT-B016", "the .npy data has dtype \"",
      absl::CHexEscape(absl::string_view(header.descr).substr(0, 60)),
      "\"; expected bool, an integer, a float of 2, 4 or 8 bytes, or a complex number");
}

// Reads `(2, 3)`, `(2,)`, `()`, with the L that Python 2 wrote behind numbers.
absl::Status ReadSizes(TextScanner& scanner, DimensionVector& sizes) {
  const auto error = [&scanner](absl::string_view expected) {
    return scanner.Error("PJRT-B015", ".npy header", expected);
  };
  if (!scanner.Consume('(')) return error("\"(\"");
  while (!scanner.Consume(')')) {
    const std::optional<int64_t> size = scanner.ConsumeInteger();
    if (!size.has_value()) return error("a size that fits in 64 bits");
    if (*size < 0) {
      return InvalidArgument("PJRT-B017", "the .npy header has dimension ", sizes.size(),
                             " of size ", *size, "; expected at least 0");
    }
    scanner.Consume('L');
    sizes.push_back(*size);
    if (!scanner.Consume(',') && scanner.Peek() != ')') return error("\",\" or \")\"");
  }
  return absl::OkStatus();
}

// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
absl::Status ReadDictionary(absl::string_view text, NpyHeader& header) {
  TextScanner scanner(text);
  const auto error = [&scanner](absl::string_view expected) {
    return scanner.Error("PJRT-B015", ".npy header", expected);
  };
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  if (!scanner.Consume('{')) return error("\"{\"");
  while (!scanner.Consume('}')) {
    const std::optional<absl::string_view> key = scanner.ConsumeQuoted();
    if (!key.has_value()) return error("a key in quotes or \"}\"");
    if (!scanner.Consume(':')) return error("\":\"");
    bool repeated = false;
    if (*key == "descr") {
      repeated = std::exchange(has_descr, true);
      if (scanner.Peek() == '[') {
        return InvalidArgument("PJRT-B016",
                               "the .npy data has a structured dtype; expected numbers");
      }
      const std::optional<absl::string_view> descr = scanner.ConsumeQuoted();
      if (!descr.has_value()) return error("a dtype in quotes");
      header.descr = std::string(*descr);
    } else if (*key == "fortran_order") {
      repeated = std::exchange(has_order, true);
      const absl::string_view word = scanner.ConsumeWord();
      if (word != "True" && word != "False") return error("True or False before here");
      header.fortran_order = word == "True";
    } else if (*key == "shape") {
      repeated = std::exchange(has_shape, true);
      header.dimensions.clear();
      PJRT_RETURN_IF_ERROR(ReadSizes(scanner, header.dimensions));
    } else {
      return error("descr, fortran_order and shape as the only keys");
    }
    if (repeated) return error("each key once");
    if (!scanner.Consume(',') && scanner.Peek() != '}') return error("\",\" or \"}\"");
  }
  if (!scanner.AtEnd()) return error("nothing more");
  if (!has_descr || !has_order || !has_shape)
    return error("the keys descr, fortran_order and shape");
  return absl::OkStatus();
}

// The element type of the literal to make from a file with that header.
absl::StatusOr<PrimitiveType> WantedType(const NpyHeader& header,
                                         std::optional<PrimitiveType> wanted) {
  if (!wanted.has_value()) {
    if (header.type != INVALID) return header.type;
    return InvalidArgument("PJRT-B018", "the .npy data has dtype \"", header.descr,
                           "\", raw bytes; say which element type they are");
  }
  const bool bits = header.type == INVALID || IsUnsignedInteger(header.type);
  const bool narrow = header.type == S8 && IsSubByte(*wanted) && IsSignedInteger(*wanted);
  if (*wanted == header.type ||
      (IsArrayType(*wanted) && ByteWidth(*wanted) == header.item_bytes && (bits || narrow))) {
    return *wanted;
  }
  return InvalidArgument("PJRT-B018", "the .npy data has dtype \"", header.descr, "\"; expected ",
                         PrimitiveTypeName(*wanted),
                         IsArrayType(*wanted) ? "" : ", which is no element type");
}

// Clears what a type cannot hold in elements that came from outside.
void Canonicalize(Literal& literal) {
  const PrimitiveType type = literal.shape().element_type();
  if (type != PRED && !IsSubByte(type)) return;
  auto* bytes = static_cast<uint8_t*>(literal.untyped_data());
  const int64_t count = literal.element_count();
  for (int64_t i = 0; i < count; ++i) {
    if (type == PRED) {
      bytes[i] = bytes[i] != 0;
    } else if (IsSignedInteger(type)) {
      bytes[i] =
          static_cast<uint8_t>(internal::CanonicalElement(type, static_cast<int8_t>(bytes[i])));
    } else {
      bytes[i] = internal::CanonicalElement(type, bytes[i]);
    }
  }
}

// How an element type is written.
std::string DescrOf(PrimitiveType type) {
  for (const Dtype& dtype : kDtypes) {
    if (dtype.type == type) return absl::StrCat(dtype.bytes == 1 ? "|" : "<", dtype.name);
  }
  const int bytes = ByteWidth(type);
  return absl::StrCat(bytes == 1 ? "|" : "<", IsSignedInteger(type) ? "i" : "u", bytes);
}

}  // namespace

absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view bytes) {
  if (bytes.size() < kMagic.size() + 2 && bytes == kMagic.substr(0, bytes.size()) &&
      !bytes.empty()) {
    return CutShort(bytes.size(), "the start of a header", static_cast<int64_t>(kMagic.size()) + 2);
  }
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return InvalidArgument("PJRT-B013", "not .npy data: it does not begin with \\x93NUMPY");
  }
  if (bytes.size() < kMagic.size() + 2) {
    return CutShort(bytes.size(), "the start of a header", static_cast<int64_t>(kMagic.size()) + 2);
  }
  const int version = static_cast<uint8_t>(bytes[kMagic.size()]);
  if (version < 1 || version > 3) {
    return InvalidArgument("PJRT-B013", "the .npy data has format version ", version,
                           "; expected 1, 2 or 3");
  }
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t start = kMagic.size() + 2 + length_bytes;
  if (bytes.size() < start)
    return CutShort(bytes.size(), "the length of a header", static_cast<int64_t>(start));
  const uint32_t length = LittleEndian(bytes.substr(start - length_bytes, length_bytes));
  if (bytes.size() - start < length) {
    return CutShort(bytes.size(), "its header", static_cast<int64_t>(start) + length);
  }
  NpyHeader header;
  header.data_offset = static_cast<int64_t>(start) + length;
  PJRT_RETURN_IF_ERROR(ReadDictionary(bytes.substr(start, length), header));
  PJRT_RETURN_IF_ERROR(SetDtype(header));
  const PrimitiveType sized = header.type != INVALID   ? header.type
                              : header.item_bytes == 1 ? U8
                                                       : U16;
  const absl::Status valid = ValidateShape(MakeShape(sized, header.dimensions));
  if (!valid.ok()) {
    return InvalidArgument("PJRT-B017", "the .npy header claims an array too large to exist: ",
                           Shorten(MakeShape(sized, header.dimensions).ToString()));
  }
  return header;
}

absl::StatusOr<Literal> LiteralFromNpy(absl::string_view bytes, std::optional<PrimitiveType> type) {
  PJRT_ASSIGN_OR_RETURN(const NpyHeader header, ParseNpyHeader(bytes));
  PJRT_ASSIGN_OR_RETURN(const PrimitiveType element_type, WantedType(header, type));
  const Shape shape = MakeShapeWithDescendingLayout(element_type, header.dimensions);
  const absl::string_view data = bytes.substr(static_cast<size_t>(header.data_offset));
  const int64_t needed = ByteSize(shape);
  const int64_t have = static_cast<int64_t>(data.size());
  if (have < needed) {
    return CutShort(
        bytes.size(),
        absl::StrCat("an array of shape ", Shorten(shape.ToString(/*print_layout=*/false))),
        SaturatingAdd(header.data_offset, needed));
  }
  if (have > needed) {
    return InvalidArgument("PJRT-B019", "the .npy data has ", have - needed,
                           " bytes behind its array of shape ",
                           Shorten(shape.ToString(/*print_layout=*/false)));
  }
  PJRT_ASSIGN_OR_RETURN(Literal literal, Literal::MakeUninitialized(shape));
  if (needed > 0) {
    if (header.fortran_order) {
      Shape stored = shape;
      stored.set_layout(MakeAscendingLayout(shape.rank()));
      StridedCopy(ByteWidth(element_type), shape.dimensions(), data.data(), ByteStrides(stored),
                  literal.untyped_data(), ByteStrides(shape));
    } else {
      std::memcpy(literal.untyped_data(), data.data(), data.size());
    }
  }
  Canonicalize(literal);
  return literal;
}

absl::StatusOr<std::string> LiteralToNpy(const LiteralBase& literal) {
  const Shape& shape = literal.shape();
  if (!shape.IsArray()) {
    return InvalidArgument("PJRT-B020", "a literal of shape ", Shorten(shape.ToString()),
                           " cannot be written as .npy; expected an array");
  }
  std::string header = absl::StrCat(
      "{'descr': '", DescrOf(shape.element_type()), "', 'fortran_order': False, 'shape': (",
      absl::StrJoin(shape.dimensions(), ", "), shape.rank() == 1 ? ",), }" : "), }");
  // The data begins at a multiple of 64, behind blanks and a newline.
  const bool long_header = header.size() + kHeaderAlignment > std::numeric_limits<uint16_t>::max();
  const size_t length_bytes = long_header ? 4 : 2;
  const size_t start = kMagic.size() + 2 + length_bytes;
  const size_t unpadded = start + header.size() + 1;
  header.append((kHeaderAlignment - unpadded % kHeaderAlignment) % kHeaderAlignment, ' ');
  header += '\n';

  std::string out(kMagic);
  out += long_header ? '\2' : '\1';
  out += '\0';
  for (size_t i = 0; i < length_bytes; ++i)
    out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  out += header;
  out.reserve(out.size() + static_cast<size_t>(literal.size_bytes()));
  const int64_t count = literal.element_count();
  LogicalReader reader(shape, literal.untyped_data());
  for (int64_t done = 0; done < count; done += LogicalReader::kBlock) {
    const int64_t step = std::min(LogicalReader::kBlock, count - done);
    out.append(static_cast<const char*>(reader.Next(step)),
               static_cast<size_t>(step * ByteWidth(shape.element_type())));
  }
  return out;
}

}  // namespace pjrt

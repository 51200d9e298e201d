// SPDX-License-Identifier: Apache-2.0
//
// Arrays in NumPy's .npy format: versions 1.0, 2.0 and 3.0, little-endian, C or Fortran order.
//
//   dtype       element type          dtype     element type
//   |b1         PRED                  <f2       F16
//   |i1 |u1     S8 U8                 <f4 <f8   F32 F64
//   <i2 .. <i8  S16 S32 S64           <c8 <c16  C64 C128
//   <u2 .. <u8  U16 U32 U64
//
// NumPy has no name for the other types. They are written as the unsigned integer of their storage
// width (BF16 as <u2, the FP8 kinds as |u1; S4 as |i1, its value), and read from it when the reader
// is told the type. V1 and V2 (raw bytes, as the ml_dtypes package writes) are read so too.
//
// Object arrays, structured types, strings, dates and big-endian data are refused.
#ifndef PJRT_BASE_NPY_H_
#define PJRT_BASE_NPY_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/base/literal.h"

namespace pjrt {

// What stands before the elements.
struct NpyHeader {
  std::string descr;           // "<f4"
  bool fortran_order = false;  // the first dimension varies fastest
  DimensionVector dimensions;
  // Type named by `descr`; INVALID for V1 and V2, which say only a width.
  PrimitiveType type = INVALID;
  int64_t item_bytes = 0;
  int64_t data_offset = 0;  // of the first element in the file
};

// Reads the header. INVALID_ARGUMENT: no .npy at all or an unknown version [PJRT-B013], cut short
// [PJRT-B014], a header that is not understood [PJRT-B015], a dtype that is not supported
// [PJRT-B016], sizes that make no array [PJRT-B017]. Nothing is allocated in proportion to what the
// header claims.
absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view bytes);

// Reads a file's content. The literal is row-major, whatever the order in the file. `type`, when
// given, is the element type wanted: the file's own, or any type stored in the same number of bytes
// when the file holds unsigned integers or raw bytes (then the bits are taken as they are), or a
// sub-byte signed integer when it holds |i1. INVALID_ARGUMENT [PJRT-B018] when the file holds
// another type; and as for ParseNpyHeader; [PJRT-B014] when elements are missing and [PJRT-B019]
// when bytes follow the last element. Bits that a type does not use are cleared; PRED bytes become
// 0 or 1.
absl::StatusOr<Literal> LiteralFromNpy(absl::string_view bytes,
                                       std::optional<PrimitiveType> type = std::nullopt);

// A file's content with the array, C order, version 1.0 (2.0 when the header is longer than that
// allows). INVALID_ARGUMENT [PJRT-B020] when `literal` is no array.
absl::StatusOr<std::string> LiteralToNpy(const LiteralBase& literal);

// The same from and to a file. NOT_FOUND [PJRT-B021] when it cannot be opened; UNKNOWN [PJRT-B022]
// when reading or writing fails. Errors about the content name the file.
absl::StatusOr<Literal> ReadNpyFile(const std::string& path,
                                    std::optional<PrimitiveType> type = std::nullopt);
absl::Status WriteNpyFile(const std::string& path, const LiteralBase& literal);

}  // namespace pjrt

#endif  // PJRT_BASE_NPY_H_

// SPDX-License-Identifier: Apache-2.0
//
// Elements of dense constants: how many bytes one takes, and single values to and from those bytes.
#ifndef PJRT_CORE_IR_ELEMENT_H_
#define PJRT_CORE_IR_ELEMENT_H_

#include <cstddef>
#include <cstdint>

#include "pjrt/ir/types.h"

namespace pjrt::ir {

// Bytes that one element of type `element` takes in Attribute::raw_data(): ceil(bits / 8), twice
// that of the part for complex types, 8 for index, those of the storage type for quantized types. 0
// for types that no constant is kept of: tf32, f80, f128, opaque types and whatever is no element
// type.
size_t ElementByteWidth(Type element);

// True for the float types that EncodeFloat and DecodeFloat know: all but tf32, f80 and f128.
bool IsCodedFloat(Type type);

// The bits of `value` rounded once to the float type: to nearest, ties to even, overflow as
// small_float.h says. `out` has ElementByteWidth(type) bytes, little-endian.
void EncodeFloat(Type type, double value, char* out);
// The value of those bits, exact. A NaN may lose its sign and payload.
double DecodeFloat(Type type, const char* bytes);

// The low ElementByteWidth(type) bytes of `value` after it has been wrapped to the width of the
// integer, index or quantized storage type: sign-extended for signless and signed types,
// zero-extended for unsigned ones and i1.
void EncodeInt(Type type, int64_t value, char* out);
// The integer that those bytes hold, extended likewise. Of ui64 the bits.
int64_t DecodeInt(Type type, const char* bytes);

// `value` wrapped to an integer type (or index), sign- or zero-extended to 64 bits as above.
int64_t WrapInt(Type type, int64_t value);

// The range of stored values that a quantized type has when its text gives none: all of the storage
// type's.
void DefaultStorageRange(Type storage_type, int64_t* lowest, int64_t* highest);

// Little-endian bytes to and from the low bits of a word; `count` is at most 8.
uint64_t LoadLittleEndian(const char* bytes, size_t count);
void StoreLittleEndian(uint64_t bits, size_t count, char* out);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_ELEMENT_H_

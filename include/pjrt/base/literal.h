// SPDX-License-Identifier: Apache-2.0
//
// Literals: array and tuple values in host memory, owned or borrowed.
//
//   Literal                  owns its memory; movable, not copyable (Clone copies)
//   LiteralSlice             read-only view of a literal, or of a part of a tuple
//   BorrowingLiteral         read-only view of the caller's memory
//   MutableBorrowingLiteral  writable view of a literal or of the caller's memory
//   LiteralBase              what all of them can do
//   MutableLiteralBase       what the writable ones can do besides
//
// Elements are unpacked: one takes ByteWidth(type) bytes, a 4-bit integer one byte. They lie in the
// order that the shape's minor_to_major gives, row-major when the shape has no layout; the rest of
// a layout does not matter here. Shapes of literals are static.
//
// Indices and element types are the caller's affair: a wrong type T, a wrong number of indices or
// an index outside the array never touches foreign memory; reads then give zero (an empty span),
// writes do nothing, as each method says.
//
// Thread safety: as for a container; const methods may run at the same time.
#ifndef PJRT_BASE_LITERAL_H_
#define PJRT_BASE_LITERAL_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pjrt/base/shape.h"

namespace pjrt {

class Literal;

// Owned literals' memory begins at a multiple of this; each element of a tuple does too.
inline constexpr size_t kLiteralAlignment = 64;

// What every literal can do: look, copy, convert, print.
class LiteralBase {
 public:
  // Always has a layout on every array. The empty tuple for a default-constructed or moved-from
  // literal.
  const Shape& shape() const;

  // Elements of the array at `index`; 0 when there is no array.
  int64_t element_count(const ShapeIndex& index = {}) const;
  // Bytes of the array at `index`, or of all arrays below it for a tuple.
  int64_t size_bytes(const ShapeIndex& index = {}) const;

  // First byte of the array at `index`; null for an empty array, and when there is no array.
  const void* untyped_data(const ShapeIndex& index = {}) const;

  // All elements of the array at `index` in memory order; which is logical order when the layout is
  // row-major. Empty when T is not the storage type (IsStorageTypeOf<T>).
  template <typename T>
  absl::Span<const T> data(const ShapeIndex& index = {}) const;

  // One element. Zero when T is not the storage type or the index is not inside.
  template <typename T>
  T Get(absl::Span<const int64_t> multi_index, const ShapeIndex& index = {}) const;
  // The element at that place of the logical row-major order, whatever the layout. Zero likewise.
  template <typename T>
  T GetLinear(int64_t linear_index, const ShapeIndex& index = {}) const;
  // Element 0 of the row-major order; for scalars.
  template <typename T>
  T GetFirstElement() const {
    return GetLinear<T>(0);
  }

  // One element converted. nullopt when the element type does not convert (integers, PRED and
  // floats to double; integers and PRED to int64_t, U64 above the maximum excepted; every type to
  // complex) or the index is not inside.
  std::optional<double> GetAsDouble(absl::Span<const int64_t> multi_index,
                                    const ShapeIndex& index = {}) const;
  std::optional<int64_t> GetAsInt64(absl::Span<const int64_t> multi_index,
                                    const ShapeIndex& index = {}) const;
  std::optional<std::complex<double>> GetAsComplex(absl::Span<const int64_t> multi_index,
                                                   const ShapeIndex& index = {}) const;
  // One element as it is printed: "3", "-1.5", "true", "(1, -2)", "nan". Empty when the index is
  // not inside.
  std::string GetAsString(absl::Span<const int64_t> multi_index,
                          const ShapeIndex& index = {}) const;

  // Where element `multi_index` lies, in elements from the first; -1 when the index is not inside.
  int64_t PhysicalIndex(absl::Span<const int64_t> multi_index, const ShapeIndex& index = {}) const;

  // A copy with memory of its own, in the same layout. RESOURCE_EXHAUSTED [PJRT-B008] when memory
  // runs out; so for the next ones.
  absl::StatusOr<Literal> Clone() const;
  // A copy whose arrays lie in the order given by `layout`, or by the layouts of `shape`, which
  // must be Compatible with this shape (INVALID_ARGUMENT [PJRT-B009] otherwise).
  absl::StatusOr<Literal> Relayout(const Layout& layout) const;
  absl::StatusOr<Literal> Relayout(const Shape& shape) const;
  // A copy with elements converted, as StableHLO's `convert` does: float to integer truncates
  // toward zero, saturates, NaN gives 0; integer to integer wraps; to PRED is "not zero"; complex
  // to real drops the imaginary part; to a float rounds once to nearest even. INVALID_ARGUMENT
  // [PJRT-B010] when this is no array or `type` no array type.
  absl::StatusOr<Literal> Convert(PrimitiveType type) const;
  // An array of the same elements in logical order with other sizes, row-major. INVALID_ARGUMENT
  // [PJRT-B009] when the element counts differ.
  absl::StatusOr<Literal> Reshape(absl::Span<const int64_t> dimensions) const;

  // Same shape apart from layouts, and the same bits of each element: NaN equals a NaN of the same
  // bits, -0 is not 0. For other notions of equality see literal_compare.h.
  bool operator==(const LiteralBase& other) const;
  bool operator!=(const LiteralBase& other) const { return !(*this == other); }

  // True when every element of the array is 0 (-0 too); false for what is no array.
  bool IsAllZero() const;

  // The shape without layout, then the elements nested by dimension: `f32[2,2] {{1, 2}, {3, 4}}`,
  // `s32[] 7`,
  // `(f32[] 1, token[])`. Floats are written so that they read back the same. Over `max_elements`
  // elements, only the first and last of each dimension are printed, with `...` between.
  std::string ToString(int64_t max_elements = 1000) const;

 protected:
  // A part: the array, or the parts of the tuple.
  struct Piece {
    const Shape* shape = nullptr;  // null stands for the empty tuple
    void* data = nullptr;
    std::vector<Piece> children;
  };

  LiteralBase() = default;
  LiteralBase(const LiteralBase&) = default;
  LiteralBase& operator=(const LiteralBase&) = default;
  LiteralBase(LiteralBase&& other) noexcept : root_(std::exchange(other.root_, Piece{})) {}
  LiteralBase& operator=(LiteralBase&& other) noexcept {
    root_ = std::exchange(other.root_, Piece{});
    return *this;
  }
  ~LiteralBase() = default;

  // Null when there is none.
  const Piece* FindPiece(const ShapeIndex& index) const;
  static int64_t PhysicalIndexIn(const Piece& piece, absl::Span<const int64_t> multi_index);
  static int64_t PhysicalIndexOfLinear(const Piece& piece, int64_t linear_index);
  // Gives every part of `shape` its piece; `next_buffer` is called for each array in order.
  static Piece MakePieces(const Shape& shape,
                          absl::FunctionRef<void*(const Shape& array)> next_buffer);

  static void PrintPiece(const Piece& piece, int64_t max_elements, std::string& out);

  Piece root_;

  friend class LiteralSlice;
  friend class MutableLiteralBase;
  friend class MutableBorrowingLiteral;
};

// What writable literals can do besides.
class MutableLiteralBase : public LiteralBase {
 public:
  void* untyped_data(const ShapeIndex& index = {});
  using LiteralBase::untyped_data;

  template <typename T>
  absl::Span<T> data(const ShapeIndex& index = {});
  using LiteralBase::data;

  // Nothing happens when T is not the storage type or the index is not inside. A sub-byte integer
  // keeps the low bits of `value`.
  template <typename T>
  void Set(absl::Span<const int64_t> multi_index, T value, const ShapeIndex& index = {});
  template <typename T>
  void SetLinear(int64_t linear_index, T value, const ShapeIndex& index = {});

  // Every element of the array. INVALID_ARGUMENT [PJRT-B011] when T is not the storage type.
  template <typename T>
  absl::Status PopulateWithValue(T value);

  // Copies the elements of `source`, converting between layouts, into this whole or into its part
  // at `destination`. INVALID_ARGUMENT [PJRT-B009] when the shapes are not Compatible. The memory
  // must not overlap.
  absl::Status CopyFrom(const LiteralBase& source, const ShapeIndex& destination = {},
                        const ShapeIndex& source_index = {});

 protected:
  MutableLiteralBase() = default;
  MutableLiteralBase(const MutableLiteralBase&) = default;
  MutableLiteralBase& operator=(const MutableLiteralBase&) = default;
  MutableLiteralBase(MutableLiteralBase&&) noexcept = default;
  MutableLiteralBase& operator=(MutableLiteralBase&&) noexcept = default;
  ~MutableLiteralBase() = default;
};

// A literal that owns its memory. Moving it leaves its memory where it is: spans and pointers stay
// valid as long as the memory has an owner.
class Literal : public MutableLiteralBase {
 public:
  // The empty tuple.
  Literal() = default;
  Literal(Literal&&) noexcept = default;
  Literal& operator=(Literal&&) noexcept = default;
  Literal(const Literal&) = delete;
  Literal& operator=(const Literal&) = delete;

  // Zeros. INVALID_ARGUMENT when ValidateShape says so [PJRT-B005], or the shape has dynamic
  // dimensions [PJRT-B007]; RESOURCE_EXHAUSTED [PJRT-B008] when memory runs out.
  static absl::StatusOr<Literal> Make(const Shape& shape);
  // The same with indeterminate elements, for a caller who writes them all.
  static absl::StatusOr<Literal> MakeUninitialized(const Shape& shape);

  // An array with these elements in row-major order. INVALID_ARGUMENT [PJRT-B006] when their number
  // does not fit the dimensions.
  template <typename T>
  static absl::StatusOr<Literal> FromSpan(absl::Span<const int64_t> dimensions,
                                          absl::Span<const T> values);
  // With the element type named, for types that share a C++ type: FromSpan<int8_t>(S4, {2}, {1,
  // -3}). INVALID_ARGUMENT [PJRT-B011] when T does not store `type`.
  template <typename T>
  static absl::StatusOr<Literal> FromSpan(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                          absl::Span<const T> values);

  // A tuple of these literals, which are moved from.
  static Literal MakeTuple(std::vector<Literal> elements);
  // The elements of this tuple as literals of their own; nothing is copied. Leaves the empty tuple
  // here. An array or token gives a vector with itself.
  std::vector<Literal> DecomposeTuple();

 private:
  friend class LiteralBase;

  // On the heap, so that pieces can point at it while the literal moves.
  std::unique_ptr<const Shape> owned_shape_;
  // Elements taken out of a tuple share its block.
  struct Block {
    std::shared_ptr<void> memory;
    int64_t bytes = 0;
  };

  // The arrays' first bytes, in the order in which MakePieces asks for them.
  static void CollectBuffers(const Piece& piece, std::vector<void*>& buffers);

  std::vector<Block> blocks_;
};

// A read-only view of a literal or of a part of it, cheap to copy.
class LiteralSlice : public LiteralBase {
 public:
  LiteralSlice() = default;
  // Views the whole or the part at `index` (the empty tuple when there is none). `literal` must
  // stay alive, unmoved.
  LiteralSlice(const LiteralBase& literal);  // NOLINT(google-explicit-constructor)
  LiteralSlice(const LiteralBase& literal, const ShapeIndex& index);
};

// A read-only view of memory that is no literal.
class BorrowingLiteral : public LiteralBase {
 public:
  // The empty tuple.
  BorrowingLiteral() = default;
  // Views an array: `data` holds ByteSize(shape) bytes in the layout of `shape`, which is copied.
  // The memory must stay alive and be aligned for the element type. A shape that is not a valid
  // static array gives the empty tuple.
  BorrowingLiteral(const void* data, const Shape& shape);
  // Views a tuple of arrays, one pointer an array (elements that are no arrays have none).
  BorrowingLiteral(absl::Span<const void* const> data, const Shape& shape);

 private:
  std::shared_ptr<const Shape> owned_shape_;
};

// A writable view of a literal, or of memory that is none.
class MutableBorrowingLiteral : public MutableLiteralBase {
 public:
  // The empty tuple.
  MutableBorrowingLiteral() = default;
  // Views the whole of `literal`, or the part at `index`. `literal` must stay alive, unmoved.
  explicit MutableBorrowingLiteral(MutableLiteralBase* literal);
  MutableBorrowingLiteral(MutableLiteralBase* literal, const ShapeIndex& index);
  // As for BorrowingLiteral.
  MutableBorrowingLiteral(void* data, const Shape& shape);
  MutableBorrowingLiteral(absl::Span<void* const> data, const Shape& shape);

 private:
  std::shared_ptr<const Shape> owned_shape_;
};

// Literals from values in C++, for tests and small programs. They are row-major. The empty tuple
// when memory runs out. CreateR2 fills rows shorter than the longest with zeros.
template <typename T>
Literal CreateR0(T value);
template <typename T>
Literal CreateR1(absl::Span<const T> values);
template <typename T>
Literal CreateR1(std::initializer_list<T> values);
template <typename T>
Literal CreateR2(std::initializer_list<std::initializer_list<T>> rows);
// A scalar of any array type from a number, converted as `convert` does. The empty tuple when
// `type` is no array type.
Literal CreateScalar(PrimitiveType type, double value);
Literal CreateScalar(PrimitiveType type, int64_t value);
inline Literal CreateScalar(PrimitiveType type, int value) {
  return CreateScalar(type, int64_t{value});
}
Literal CreateToken();

// -------------------------------------------------------------------------------------------------

namespace internal {

// Keeps the low bits of a sub-byte integer, sign-extended or zero-extended; every other value
// stays.
template <typename T>
T CanonicalElement(PrimitiveType type, T value) {
  if constexpr (std::is_same_v<T, int8_t> || std::is_same_v<T, uint8_t>) {
    const int spare = 8 - BitWidth(type);
    const auto shifted = static_cast<uint8_t>(static_cast<uint8_t>(value) << spare);
    return static_cast<T>(static_cast<T>(shifted) >> spare);
  } else {
    (void)type;
    return value;
  }
}

}  // namespace internal

template <typename T>
absl::Span<const T> LiteralBase::data(const ShapeIndex& index) const {
  const Piece* piece = FindPiece(index);
  if (piece == nullptr || !IsStorageTypeOf<T>(piece->shape->element_type())) return {};
  return absl::Span<const T>(static_cast<const T*>(piece->data),
                             static_cast<size_t>(ElementCount(*piece->shape)));
}

template <typename T>
T LiteralBase::Get(absl::Span<const int64_t> multi_index, const ShapeIndex& index) const {
  const Piece* piece = FindPiece(index);
  if (piece == nullptr || !IsStorageTypeOf<T>(piece->shape->element_type())) return T{};
  const int64_t at = PhysicalIndexIn(*piece, multi_index);
  return at < 0 ? T{} : static_cast<const T*>(piece->data)[at];
}

template <typename T>
T LiteralBase::GetLinear(int64_t linear_index, const ShapeIndex& index) const {
  const Piece* piece = FindPiece(index);
  if (piece == nullptr || !IsStorageTypeOf<T>(piece->shape->element_type())) return T{};
  const int64_t at = PhysicalIndexOfLinear(*piece, linear_index);
  return at < 0 ? T{} : static_cast<const T*>(piece->data)[at];
}

template <typename T>
absl::Span<T> MutableLiteralBase::data(const ShapeIndex& index) {
  const Piece* piece = FindPiece(index);
  if (piece == nullptr || !IsStorageTypeOf<T>(piece->shape->element_type())) return {};
  return absl::Span<T>(static_cast<T*>(piece->data),
                       static_cast<size_t>(ElementCount(*piece->shape)));
}

template <typename T>
void MutableLiteralBase::Set(absl::Span<const int64_t> multi_index, T value,
                             const ShapeIndex& index) {
  const Piece* piece = FindPiece(index);
  if (piece == nullptr || !IsStorageTypeOf<T>(piece->shape->element_type())) return;
  const int64_t at = PhysicalIndexIn(*piece, multi_index);
  if (at < 0) return;
  static_cast<T*>(piece->data)[at] =
      internal::CanonicalElement(piece->shape->element_type(), value);
}

template <typename T>
void MutableLiteralBase::SetLinear(int64_t linear_index, T value, const ShapeIndex& index) {
  const Piece* piece = FindPiece(index);
  if (piece == nullptr || !IsStorageTypeOf<T>(piece->shape->element_type())) return;
  const int64_t at = PhysicalIndexOfLinear(*piece, linear_index);
  if (at < 0) return;
  static_cast<T*>(piece->data)[at] =
      internal::CanonicalElement(piece->shape->element_type(), value);
}

namespace internal {

absl::Status WrongStorageType(const Shape& shape, PrimitiveType given);
absl::Status WrongElementCount(const Shape& shape, size_t given);

}  // namespace internal

template <typename T>
absl::Status MutableLiteralBase::PopulateWithValue(T value) {
  const PrimitiveType type = shape().element_type();
  if (!IsStorageTypeOf<T>(type)) return internal::WrongStorageType(shape(), PrimitiveTypeOf<T>());
  for (T& element : data<T>()) element = internal::CanonicalElement(type, value);
  return absl::OkStatus();
}

template <typename T>
absl::StatusOr<Literal> Literal::FromSpan(PrimitiveType type, absl::Span<const int64_t> dimensions,
                                          absl::Span<const T> values) {
  const Shape shape = MakeShape(type, dimensions);
  if (!IsStorageTypeOf<T>(type)) return internal::WrongStorageType(shape, PrimitiveTypeOf<T>());
  if (ElementCount(shape) != static_cast<int64_t>(values.size())) {
    return internal::WrongElementCount(shape, values.size());
  }
  absl::StatusOr<Literal> literal = MakeUninitialized(shape);
  if (!literal.ok()) return literal;
  T* out = literal->template data<T>().data();
  for (size_t i = 0; i < values.size(); ++i) out[i] = internal::CanonicalElement(type, values[i]);
  return literal;
}

template <typename T>
absl::StatusOr<Literal> Literal::FromSpan(absl::Span<const int64_t> dimensions,
                                          absl::Span<const T> values) {
  static_assert(PrimitiveTypeOf<T>() != INVALID, "no element type is stored as T");
  return FromSpan<T>(PrimitiveTypeOf<T>(), dimensions, values);
}

template <typename T>
Literal CreateR0(T value) {
  absl::StatusOr<Literal> literal = Literal::FromSpan<T>({}, absl::Span<const T>(&value, 1));
  return literal.ok() ? *std::move(literal) : Literal();
}

template <typename T>
Literal CreateR1(absl::Span<const T> values) {
  absl::StatusOr<Literal> literal =
      Literal::FromSpan<T>({static_cast<int64_t>(values.size())}, values);
  return literal.ok() ? *std::move(literal) : Literal();
}

template <typename T>
Literal CreateR1(std::initializer_list<T> values) {
  return CreateR1<T>(absl::Span<const T>(values.begin(), values.size()));
}

template <typename T>
Literal CreateR2(std::initializer_list<std::initializer_list<T>> rows) {
  static_assert(PrimitiveTypeOf<T>() != INVALID, "no element type is stored as T");
  size_t columns = 0;
  for (const auto& row : rows) columns = row.size() > columns ? row.size() : columns;
  absl::StatusOr<Literal> literal = Literal::Make(MakeShape(
      PrimitiveTypeOf<T>(), {static_cast<int64_t>(rows.size()), static_cast<int64_t>(columns)}));
  if (!literal.ok()) return Literal();
  T* out = literal->template data<T>().data();
  for (const auto& row : rows) {
    T* element = out;
    for (const T& value : row) *element++ = value;
    out += columns;
  }
  return *std::move(literal);
}

}  // namespace pjrt

#endif  // PJRT_BASE_LITERAL_H_

// SPDX-License-Identifier: Apache-2.0
//
// Runs a call of linear algebra on each matrix of its batch.
#include "src/cpu_device/custom_calls/lapack.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>
#include <utility>

#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/custom_calls/lapack_forms.h"
#include "src/cpu_device/kernels/linalg_eigen.h"
#include "src/cpu_device/kernels/linalg_qr.h"
#include "src/cpu_device/kernels/linalg_solve.h"

namespace pjrt::cpu {
namespace {

using custom_call::Array;

// The options of one execution.
struct Options {
  bool lower, left, unit_diagonal, transpose, conjugate, vectors, right_vectors;
  int64_t low, high;
};

Options ReadOptions(const LapackCall& call, absl::Span<const Array> operands) {
  const auto is_one_of = [&](const LapackOption& option, char letter, int64_t number) {
    const int64_t value = option.Read(operands);
    return value == letter || value == number;
  };
  Options o;
  o.lower = is_one_of(call.uplo, 'L', 1);
  o.left = is_one_of(call.side, 'L', 1);
  o.unit_diagonal = is_one_of(call.diag, 'U', 1);
  o.conjugate = is_one_of(call.trans, 'C', 2);
  o.transpose = o.conjugate || is_one_of(call.trans, 'T', 1);
  o.vectors = !is_one_of(call.vectors, 'N', 0);
  o.right_vectors = !is_one_of(call.right_vectors, 'N', 0);
  o.low = call.low.Read(operands);
  o.high = call.high.Read(operands);
  return o;
}

// The parts of one item of the batch.
class Item {
 public:
  Item(const LapackCall& call, absl::Span<const Array> operands, absl::Span<const Array> results,
       int64_t index)
      : call_(call), operands_(operands), results_(results), index_(index) {}

  template <typename U>
  const U* In(char part) const {
    return static_cast<const U*>(At(operands_[static_cast<size_t>(call_.operands[part])]));
  }
  // Null when the form has no such result.
  template <typename U>
  U* Out(char part) const {
    if (!call_.results.Has(part)) return nullptr;
    return static_cast<U*>(At(results_[static_cast<size_t>(call_.results[part])]));
  }
  // A result that begins as a copy of the operand of the same part.
  template <typename U>
  U* InOut(char part) const {
    U* const out = Out<U>(part);
    const U* const in = In<U>(part);
    const int64_t bytes = ItemBytes(results_[static_cast<size_t>(call_.results[part])]);
    if (out != in && bytes > 0) std::memcpy(out, in, static_cast<size_t>(bytes));
    return out;
  }
  void Clear(char part) const {
    if (!call_.results.Has(part)) return;
    const Array& array = results_[static_cast<size_t>(call_.results[part])];
    if (ItemBytes(array) > 0) std::memset(At(array), 0, static_cast<size_t>(ItemBytes(array)));
  }

 private:
  int64_t ItemBytes(const Array& array) const { return array.size_bytes() / call_.batch; }
  void* At(const Array& array) const {
    return static_cast<char*>(array.data) + index_ * ItemBytes(array);
  }

  const LapackCall& call_;
  absl::Span<const Array> operands_, results_;
  int64_t index_;
};

template <typename T>
void Scale(T factor, int64_t count, T* x) {
  if (factor == T(1)) return;
  for (int64_t i = 0; i < count; ++i) x[i] *= factor;
}

// Counts pivots from 0 and makes the permutation of the rows: row i of P a is row permutation[i].
void FinishPivots(int64_t m, int64_t k, int32_t* pivots, int32_t* permutation) {
  for (int64_t i = 0; i < m; ++i) permutation[i] = static_cast<int32_t>(i);
  for (int64_t i = 0; i < k; ++i) std::swap(permutation[i], permutation[--pivots[i]]);
}

// Returns info.
template <typename T>
int32_t RunItem(const LapackCall& c, const Options& o, const Kernels& kernels, const Item& item,
                T factor) {
  using R = RealOf<T>;
  const int64_t m = c.m, n = c.n, k = std::min(m, n);
  switch (c.routine) {
    case Routine::kPotrf:
      return Potrf<T>(kernels, o.lower, n, item.InOut<T>('a'));
    case Routine::kGetrf: {
      int32_t* const pivots = item.Out<int32_t>('p');
      const int32_t info = Getrf<T>(kernels, m, n, item.InOut<T>('a'), pivots);
      if (c.zero_based) FinishPivots(m, k, pivots, item.Out<int32_t>('q'));
      return info;
    }
    case Routine::kGeqrf:
      Geqrf<T>(kernels, m, n, item.InOut<T>('a'), item.Out<T>('t'));
      return 0;
    case Routine::kGeqp3:
      Geqp3<T>(kernels, m, n, item.InOut<T>('a'), item.InOut<int32_t>('p'), item.Out<T>('t'));
      return 0;
    case Routine::kOrgqr:
      Orgqr<T>(kernels, m, n, c.reflectors, item.InOut<T>('a'), item.In<T>('t'));
      return 0;
    case Routine::kOrmqr:
      Ormqr<T>(kernels, o.left, o.transpose, c.rows, c.columns, c.reflectors, item.In<T>('a'), n,
               item.In<T>('t'), item.InOut<T>('c'));
      return 0;
    case Routine::kTrsm: {
      T* const b = item.InOut<T>('b');
      Scale(factor, c.rows * c.columns, b);
      TrsmOptions options;
      options.left = o.left;
      options.lower = o.lower;
      options.transpose = o.transpose;
      options.conjugate = o.conjugate;
      options.unit_diagonal = o.unit_diagonal;
      Trsm<T>(kernels, options, c.rows, c.columns, item.In<T>('a'), b);
      return 0;
    }
    case Routine::kSyevd:
      return Syevd<T>(kernels, o.vectors, o.lower, n, item.InOut<T>('a'), item.Out<R>('w'));
    case Routine::kGesdd:
      if (!o.vectors) {
        item.Clear('u');
        item.Clear('v');
      }
      return Gesdd<T>(kernels,
                      !o.vectors       ? SvdVectors::kNone
                      : c.full_vectors ? SvdVectors::kFull
                                       : SvdVectors::kThin,
                      m, n, item.InOut<T>('a'), item.Out<R>('w'), item.Out<T>('u'),
                      item.Out<T>('v'));
    case Routine::kGeev: {
      // Results that are not computed have one value all the same.
      for (const char part : {'u', 'v', 'w', 'x'}) item.Clear(part);
      EigenvalueSpan<R> w;
      if constexpr (std::is_same_v<T, R>) {
        w = SpanOf(item.Out<R>('w'), item.Out<R>('x'));
      } else {
        w = SpanOf(item.Out<T>('w'));
      }
      return Geev<T>(kernels, n, item.In<T>('a'), w,
                     o.vectors ? item.Out<std::complex<R>>('u') : nullptr,
                     o.right_vectors ? item.Out<std::complex<R>>('v') : nullptr);
    }
    case Routine::kGees: {
      if (!o.vectors) item.Clear('u');
      item.Clear('z');
      EigenvalueSpan<R> w;
      if constexpr (std::is_same_v<T, R>) {
        w = SpanOf(item.Out<R>('w'), item.Out<R>('x'));
      } else {
        w = SpanOf(item.Out<T>('w'));
      }
      return Gees<T>(kernels, n, item.InOut<T>('a'), w, o.vectors ? item.Out<T>('u') : nullptr);
    }
    case Routine::kGehrd:
      item.Clear('t');
      return Gehrd<T>(kernels, n, o.low, o.high, item.InOut<T>('a'), item.Out<T>('t'));
    case Routine::kSytrd:
      Sytrd<T>(kernels, o.lower, n, item.InOut<T>('a'), item.Out<R>('w'), item.Out<R>('e'),
               item.Out<T>('t'));
      return 0;
    case Routine::kGtsv:
      return Gtsv<T>(n, c.columns, item.InOut<T>('l'), item.InOut<T>('d'), item.InOut<T>('s'),
                     item.InOut<T>('b'));
    case Routine::kTridiagonalPerturbed:
      TridiagonalSolvePerturbed<T>(n, c.columns, item.In<T>('l'), item.In<T>('d'), item.In<T>('s'),
                                   item.InOut<T>('b'));
      return 0;
    default:
      return 0;
  }
}

template <typename T>
absl::Status RunSparse(const LapackCall& c, absl::Span<const Array> operands,
                       absl::Span<const Array> results) {
  const Item item(c, operands, results, 0);
  CsrTimesDense<T>(c.m, c.rows, c.columns, c.reflectors, item.In<T>('a'), item.In<int32_t>('p'),
                   item.In<int32_t>('r'), item.In<T>('b'), item.Out<T>('c'));
  return absl::OkStatus();
}

template <typename T>
absl::Status RunCall(const LapackCall& c, const Kernels& kernels,
                     const custom_call::Context& context, absl::Span<const Array> operands,
                     absl::Span<const Array> results) {
  const Options options = ReadOptions(c, operands);
  if ((c.routine == Routine::kTrsm && c.n != (options.left ? c.rows : c.columns)) ||
      (c.routine == Routine::kOrmqr && c.m != (options.left ? c.rows : c.columns))) {
    return InvalidArgument("PJRT-K002", "the matrix has ", c.m,
                           " rows, which does not fit the side that it stands on");
  }
  T factor = 1;
  if (c.operands.Has('f'))
    factor = *static_cast<const T*>(operands[static_cast<size_t>(c.operands['f'])].data);
  context.ParallelFor(c.batch, [&](int64_t i, int) {
    const Item item(c, operands, results, i);
    const int32_t info = RunItem<T>(c, options, kernels, item, factor);
    if (int32_t* const to = item.Out<int32_t>('i')) *to = info;
  });
  return absl::OkStatus();
}

absl::Status Run(const LapackCall& c, const Kernels& kernels, const custom_call::Context& context,
                 absl::Span<const Array> operands, absl::Span<const Array> results) {
  if (c.batch == 0) return absl::OkStatus();
  if (c.routine == Routine::kCsrDense) {
    switch (c.type) {
      case F32:
        return RunSparse<float>(c, operands, results);
      case F64:
        return RunSparse<double>(c, operands, results);
      case C64:
        return RunSparse<std::complex<float>>(c, operands, results);
      case C128:
        return RunSparse<std::complex<double>>(c, operands, results);
      case S32:
        return RunSparse<int32_t>(c, operands, results);
      default:
        return RunSparse<int64_t>(c, operands, results);
    }
  }
  switch (c.type) {
    case F32:
      return RunCall<float>(c, kernels, context, operands, results);
    case F64:
      return RunCall<double>(c, kernels, context, operands, results);
    case C64:
      return RunCall<std::complex<float>>(c, kernels, context, operands, results);
    default:
      return RunCall<std::complex<double>>(c, kernels, context, operands, results);
  }
}

// About how many multiply-adds a matrix takes.
double WorkOf(const LapackCall& c) {
  const double m = static_cast<double>(c.m), n = static_cast<double>(c.n);
  const double k = std::min(m, n), columns = static_cast<double>(c.columns);
  switch (c.routine) {
    case Routine::kPotrf:
      return n * n * n / 6;
    case Routine::kGetrf:
      return m * n * k / 2;
    case Routine::kOrmqr:
      return static_cast<double>(c.rows) * columns * static_cast<double>(c.reflectors) * 2;
    case Routine::kTrsm:
      return static_cast<double>(c.rows) * columns * n / 2;
    case Routine::kSyevd:
      return 6 * n * n * n;
    case Routine::kGesdd:
      return 12 * m * n * k;
    case Routine::kGeev:
    case Routine::kGees:
      return 15 * n * n * n;
    case Routine::kGtsv:
    case Routine::kTridiagonalPerturbed:
      return 10 * n * (columns + 1);
    case Routine::kCsrDense:
      return 2 * static_cast<double>(c.reflectors) * columns;
    default:
      return 2 * m * n * k;
  }
}

}  // namespace

custom_call::Factory FindLapack(absl::string_view target, const Kernels& kernels) {
  const LapackName name = ParseLapackName(target);
  if (name.routine == Routine::kNone) return nullptr;
  return [name, &kernels](
             const custom_call::Signature& signature) -> absl::StatusOr<custom_call::Kernel> {
    PJRT_ASSIGN_OR_RETURN(const LapackCall call, ReadLapackCall(name, signature));
    custom_call::Kernel kernel;
    kernel.cost_ns =
        static_cast<double>(call.batch) * (500 + WorkOf(call) * (IsComplex(call.type) ? 4 : 1) / 4);
    for (const char part : {'a', 'b', 'c', 'd', 'l', 's', 'p'}) {
      if (call.operands.Has(part) && call.results.Has(part) && call.routine != Routine::kCsrDense)
        kernel.in_place.push_back({call.results[part], call.operands[part]});
    }
    kernel.run = [call, &kernels](const custom_call::Context& context,
                                  absl::Span<const Array> operands,
                                  absl::Span<const Array> results) {
      return Run(call, kernels, context, operands, results);
    };
    return kernel;
  };
}

}  // namespace pjrt::cpu

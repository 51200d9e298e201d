// SPDX-License-Identifier: Apache-2.0
//
// Each elementwise operation alone, on each type that it is likely to be used on, with arrays of
// 256 MiB. of_bandwidth: bytes read and written a second, over those of memcpy by as many threads
// on arrays of that size.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

constexpr int64_t kArrayBytes = int64_t{256} << 20;  // of the largest array

struct Type {
  std::string name;
  int bits;  // of an element
};

// `op` from `operands` arrays of type `from` to one of type `to`.
void Measure(benchmark::State& state, absl::string_view op, const Type& from, const Type& to,
             int operands) {
  const int64_t n = kArrayBytes * 8 / std::max(from.bits, to.bits);
  const std::string in = absl::StrCat("tensor<", n, "x", from.name, ">");
  const std::string out = absl::StrCat("tensor<", n, "x", to.name, ">");
  const std::string text =
      operands == 1 ? absl::StrCat("func.func @main(%x: ", in, ") -> ", out, " {\n  %z = ", op,
                                   " %x : (", in, ") -> ", out)
                    : absl::StrCat("func.func @main(%x: ", in, ", %y: ", in, ") -> ", out,
                                   " {\n  %z = ", op, " %x, %y : (", in, ", ", in, ") -> ", out);
  MeasureOfBandwidth(state, absl::StrCat(text, "\n  return %z : ", out, "\n}\n"),
                     n / 8 * (from.bits * operands + to.bits));
}

void Row(absl::string_view op, const Type& from, const Type& to, int operands) {
  const absl::string_view name = op.substr(op.find('.') + 1, op.find(' ') - op.find('.') - 1);
  const std::string row =
      absl::StrCat(name, "/", from.name, name == "convert" ? "_" + to.name : "");
  benchmark::RegisterBenchmark(row.c_str(), [=, op = std::string(op)](benchmark::State& state) {
    Measure(state, op, from, to, operands);
  })->Apply(OverThreads);
}

void Rows(const std::vector<const char*>& ops, const Type& type, int operands) {
  for (const char* op : ops) Row(op, type, type, operands);
}

int RegisterAll() {
  const Type pred = {"i1", 8}, f32 = {"f32", 32}, f64 = {"f64", 64}, bf16 = {"bf16", 16},
             f16 = {"f16", 16}, f8 = {"f8E4M3FN", 8}, s4 = {"i4", 4}, s8 = {"i8", 8},
             s16 = {"i16", 16}, s32 = {"i32", 32}, s64 = {"i64", 64}, u8 = {"ui8", 8},
             u32 = {"ui32", 32}, u64 = {"ui64", 64}, c64 = {"complex<f32>", 64},
             c128 = {"complex<f64>", 128};
  for (const Type& type : {f32, f64, bf16, f16}) {
    Rows({"stablehlo.abs", "stablehlo.ceil", "stablehlo.floor", "stablehlo.negate",
          "stablehlo.sign", "stablehlo.round_nearest_even", "stablehlo.round_nearest_afz"},
         type, 1);
    Rows({"stablehlo.add", "stablehlo.multiply", "stablehlo.divide", "stablehlo.maximum",
          "stablehlo.remainder"},
         type, 2);
    Rows({"chlo.erf", "chlo.erfc"}, type, 1);
    for (const Type& other : {f32, f64, bf16, f16, s8, s32, s64, u8, f8}) {
      if (other.name == type.name) continue;
      Row("stablehlo.convert", type, other, 1);
      if (other.name == f8.name || other.name[0] == 'i' || other.name[0] == 'u')
        Row("stablehlo.convert", other, type, 1);
    }
  }
  for (const Type& type : {c64, c128}) {
    Rows({"stablehlo.negate", "stablehlo.sign"}, type, 1);
    Rows({"stablehlo.add", "stablehlo.multiply", "stablehlo.divide"}, type, 2);
    Row("stablehlo.abs", type, type.bits == 64 ? f32 : f64, 1);
  }
  for (const Type& type : {f32, f64, bf16, f16, c64, c128}) {
    Rows({"stablehlo.sqrt", "stablehlo.rsqrt", "stablehlo.cbrt", "stablehlo.exponential",
          "stablehlo.exponential_minus_one", "stablehlo.log", "stablehlo.log_plus_one",
          "stablehlo.logistic", "stablehlo.tanh", "stablehlo.sine", "stablehlo.cosine",
          "stablehlo.tan"},
         type, 1);
    Rows({"stablehlo.power", "stablehlo.atan2"}, type, 2);
  }
  for (const Type& type : {s8, s16, s32, s64, u8, u32, u64}) {
    if (type.name[0] == 'i') Rows({"stablehlo.abs", "stablehlo.sign"}, type, 1);
    Rows({"stablehlo.not", "stablehlo.popcnt", "stablehlo.count_leading_zeros"}, type, 1);
    Rows({"stablehlo.add", "stablehlo.multiply", "stablehlo.divide", "stablehlo.remainder",
          "stablehlo.power", "stablehlo.maximum", "stablehlo.and", "stablehlo.shift_left",
          "stablehlo.shift_right_arithmetic", "stablehlo.shift_right_logical"},
         type, 2);
  }
  Rows({"stablehlo.add"}, s4, 2);
  for (const Type& other : {f32, bf16, s8}) {
    Row("stablehlo.convert", s4, other, 1);
    Row("stablehlo.convert", other, s4, 1);
  }
  for (const Type& type : {f32, f64, bf16, f16, s8, s16, s32, s64, u8, u32, u64})
    Row("stablehlo.compare LT,", type, pred, 2);
  return 0;
}

[[maybe_unused]] const int kRegistered = RegisterAll();

}  // namespace
}  // namespace pjrt::bench

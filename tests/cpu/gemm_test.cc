// SPDX-License-Identifier: Apache-2.0
//
// Matrix products: the kernels on random sizes and strides against three loops, at every level;
// dot_general end to end.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "src/cpu_device/kernels/gemm.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
struct IsComplexT : std::false_type {};
template <typename T>
struct IsComplexT<std::complex<T>> : std::true_type {};

// A small number that products and sums keep exact.
template <typename T>
T Small(std::mt19937& random) {
  const int v = static_cast<int>(random() % 7) - (std::is_unsigned_v<T> ? 0 : 3);
  if constexpr (IsComplexT<T>::value) {
    return T(static_cast<float>(v), static_cast<float>(random() % 5));
  } else {
    return static_cast<T>(static_cast<float>(v));
  }
}

// An integer whose products are the largest and the smallest.
template <typename T>
T Extreme(std::mt19937& random) {
  constexpr T kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  const T values[] = {kLow, kLow, kHigh, static_cast<T>(kLow + 1), T{0}, T{1}};
  return values[random() % 6];
}

// W: the type in which three loops sum without error, or wrap as C does.
template <typename A, typename B, typename C, typename W>
void CheckRandomProducts(CType accumulate, uint32_t seed, int count, bool extreme = false) {
  std::mt19937 random(seed);
  const auto below = [&](int n) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(n));
  };
  for (int i = 0; i < count; ++i) {
    GemmProblem p;
    p.a_type = PrimitiveTypeOf<A>();
    p.b_type = PrimitiveTypeOf<B>();
    p.c_type = PrimitiveTypeOf<C>();
    p.accumulate = accumulate;
    p.batch = 1 + below(3);
    const int64_t most = i % 20 == 10 ? 100 : 30;
    p.m = 1 + below(static_cast<int>(most));
    p.n = 1 + below(static_cast<int>(most));
    p.k = below(static_cast<int>(most) * 2);
    if (i % 7 == 0) p.m = 1;
    if (i % 11 == 0) p.n = 1;
    if (i % 10 == 3) {
      // A few terms, and more rows than the largest tile has.
      p.m = 60 + below(200);
      p.n = 1 + below(100);
      p.k = 1 + below(9);
    }
    if (i % 20 == 15) {
      // Several blocks, and more columns, or rows, than are packed at once.
      p.m = 100 + below(200);
      p.n = 500 + below(200);
      p.k = 1 + below(50);
    }
    if (i % 60 == 47) {
      // All rows in a unit, which packs its own columns of a large B.
      p.m = 25 + below(10);
      p.n = 800 + below(100);
      p.k = 700 + below(100);
    }
    const bool tiny = i % 4 == 1;
    if (tiny) {
      // A batch of tiny ones, or of many rows and a tiny matrix.
      p.batch = 1 + below(50);
      p.m = 1 + below(below(4) == 0 ? 200 : 5);
      p.n = 1 + below(5);
      p.k = below(9);
    }
    // Row-major, column-major, broadcast or with gaps.
    const auto strides = [&](int64_t rows, int64_t columns, int64_t* row, int64_t* column) {
      const int64_t gap = below(3);
      switch (below(5)) {
        case 0:
          *row = 1;
          *column = rows + gap;
          break;
        case 1:
          *row = 2 * columns + gap;
          *column = 2;
          break;
        case 2:
          *row = 0;
          *column = 1;
          break;
        default:
          *row = columns + gap;
          *column = 1;
          break;
      }
    };
    strides(p.m, p.k, &p.a_row_stride, &p.a_col_stride);
    strides(p.k, p.n, &p.b_row_stride, &p.b_col_stride);
    p.c_row_stride = p.n + below(2);
    const int64_t a_size = p.m * p.a_row_stride + p.k * p.a_col_stride + 1,
                  b_size = p.k * p.b_row_stride + p.n * p.b_col_stride + 1;
    const int64_t c_size = p.m * p.c_row_stride;
    p.even_batch = below(2) == 0;
    p.a_batch_stride = a_size;
    p.b_batch_stride = tiny && below(3) == 0 ? 0 : b_size;
    p.c_batch_stride = c_size;
    std::vector<A> a(a_size * p.batch);
    std::vector<B> b(b_size * p.batch);
    for (A& v : a) v = Small<A>(random);
    for (B& v : b) v = Small<B>(random);
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
      if (extreme) {
        for (A& v : a) v = Extreme<A>(random);
        for (B& v : b) v = Extreme<B>(random);
      }
    }

    struct Entries final : Gemm::Batch {
      Gemm::Operands operands(int64_t entry) const override {
        return {a + entry * a_bytes, b + entry * b_bytes, c + entry * c_bytes};
      }
      const char *a, *b;
      char* c;
      int64_t a_bytes, b_bytes, c_bytes;
    };
    for (const Kernels* kernels : AllKernels()) {
      if (!kernels->supported()) continue;
      auto gemm = MakeGemm(p, *kernels);
      ASSERT_TRUE(gemm.ok()) << gemm.status();
      const auto aligned = [](int64_t bytes) {
        return std::unique_ptr<char, decltype(&std::free)>(
            static_cast<char*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64)), &std::free);
      };
      const auto scratch = aligned((*gemm)->scratch_bytes()),
                 shared = aligned((*gemm)->shared_bytes());
      std::memset(scratch.get(), 0x7f, (*gemm)->scratch_bytes());
      std::vector<C> c(c_size * p.batch, C(99));
      Entries entries;
      entries.a = reinterpret_cast<const char*>(a.data());
      entries.b = reinterpret_cast<const char*>(b.data());
      entries.c = reinterpret_cast<char*>(c.data());
      entries.a_bytes = a_size * static_cast<int64_t>(sizeof(A));
      entries.b_bytes = p.b_batch_stride * static_cast<int64_t>(sizeof(B));
      entries.c_bytes = c_size * static_cast<int64_t>(sizeof(C));
      for (int phase = 0; phase < (*gemm)->num_phases(); ++phase) {
        // Backwards: units may run in any order.
        for (int64_t unit = (*gemm)->num_units(phase); unit-- > 0;)
          (*gemm)->Run(entries, phase, unit, shared.get(), scratch.get());
      }
      for (int64_t e = 0; e < p.batch; ++e) {
        for (int64_t r = 0; r < p.m; ++r) {
          for (int64_t col = 0; col < p.n; ++col) {
            W sum(0);
            for (int64_t q = 0; q < p.k; ++q) {
              sum += static_cast<W>(a[e * a_size + r * p.a_row_stride + q * p.a_col_stride]) *
                     static_cast<W>(
                         b[e * p.b_batch_stride + q * p.b_row_stride + col * p.b_col_stride]);
            }
            ASSERT_EQ(static_cast<W>(c[e * c_size + r * p.c_row_stride + col]),
                      static_cast<W>(static_cast<C>(sum)))
                << (*gemm)->description() << " at " << e << ", " << r << ", " << col << "; strides "
                << p.a_row_stride << " " << p.a_col_stride << ", " << p.b_row_stride << " "
                << p.b_col_stride;
          }
          for (int64_t col = p.n; col < p.c_row_stride; ++col)
            ASSERT_EQ(static_cast<W>(c[e * c_size + r * p.c_row_stride + col]),
                      static_cast<W>(C(99)));
        }
      }
    }
  }
}

TEST(GemmTest, F32) { CheckRandomProducts<float, float, float, double>(CType::kF32, 1, 120); }
TEST(GemmTest, F64) { CheckRandomProducts<double, double, double, double>(CType::kF64, 2, 60); }
TEST(GemmTest, F16) { CheckRandomProducts<half, half, half, float>(CType::kF32, 3, 60); }
TEST(GemmTest, Bf16ToF32) {
  CheckRandomProducts<bfloat16, bfloat16, float, float>(CType::kF32, 4, 60);
}
TEST(GemmTest, Bf16KeepsSubnormalNumbers) {
  // Rows of sums that are subnormal, and of products that cancel but for a subnormal rest.
  constexpr int64_t kM = 20, kN = 40, kK = 33;
  std::vector<bfloat16> a(kM * kK), b(kK * kN);
  std::mt19937 random(30);
  for (bfloat16& x : a)
    x = bfloat16(std::ldexp(1.0f + static_cast<float>(random() % 128) / 128, -70));
  for (bfloat16& x : b) {
    const float value = std::ldexp(1.0f + static_cast<float>(random() % 128) / 128, -66);
    x = bfloat16(random() % 2 == 0 ? value : -value);
  }
  for (int64_t i = 0; i < kK; ++i) a[i] = bfloat16(std::ldexp(1.0f, -130));
  GemmProblem p;
  p.a_type = p.b_type = BF16;
  p.m = kM;
  p.n = kN;
  p.k = kK;
  p.a_row_stride = kK;
  p.b_row_stride = p.c_row_stride = kN;
  struct One final : Gemm::Batch {
    Gemm::Operands operands(int64_t) const override { return at; }
    Gemm::Operands at;
  };
  for (const Kernels* kernels : AllKernels()) {
    if (!kernels->supported()) continue;
    const auto gemm = *MakeGemm(p, *kernels);
    std::vector<float> c(kM * kN);
    std::vector<double> scratch((gemm->scratch_bytes() + gemm->shared_bytes()) / 8 + 32);
    char* const memory =
        reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    One one;
    one.at = {reinterpret_cast<const char*>(a.data()), reinterpret_cast<const char*>(b.data()),
              reinterpret_cast<char*>(c.data())};
    for (int phase = 0; phase < gemm->num_phases(); ++phase) {
      for (int64_t unit = 0; unit < gemm->num_units(phase); ++unit)
        gemm->Run(one, phase, unit, memory + (gemm->scratch_bytes() + 63) / 64 * 64, memory);
    }
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t j = 0; j < kN; ++j) {
        double sum = 0, size = 0;
        for (int64_t q = 0; q < kK; ++q) {
          const double product = static_cast<double>(static_cast<float>(a[i * kK + q])) *
                                 static_cast<double>(static_cast<float>(b[q * kN + j]));
          sum += product;
          size += std::abs(product);
        }
        EXPECT_NEAR(c[i * kN + j], sum, 1e-6 * size + 0x1p-149 * kK)
            << gemm->description() << " at " << i << ", " << j;
      }
    }
  }
}
TEST(GemmTest, MixedFloats) {
  CheckRandomProducts<bfloat16, float, bfloat16, float>(CType::kF32, 5, 40);
}
TEST(GemmTest, S8ToS32) {
  CheckRandomProducts<int8_t, int8_t, int32_t, int64_t>(CType::kS32, 6, 60);
}
TEST(GemmTest, SmallIntegersOfEverySign) {
  CheckRandomProducts<uint8_t, int8_t, int32_t, int64_t>(CType::kS32, 21, 40, true);
  CheckRandomProducts<int8_t, int8_t, int32_t, int64_t>(CType::kS32, 22, 40, true);
  CheckRandomProducts<int8_t, uint8_t, int32_t, int64_t>(CType::kS32, 23, 40, true);
  CheckRandomProducts<uint8_t, uint8_t, uint32_t, int64_t>(CType::kU32, 24, 40, true);
  CheckRandomProducts<int8_t, int8_t, int8_t, int64_t>(CType::kS32, 25, 40, true);
}
TEST(GemmTest, SixteenBitIntegersWrapIn32) {
  CheckRandomProducts<int16_t, int16_t, int32_t, int64_t>(CType::kS32, 26, 40, true);
  CheckRandomProducts<int16_t, int8_t, int16_t, int64_t>(CType::kS32, 27, 40, true);
}
TEST(GemmTest, S32) { CheckRandomProducts<int32_t, int32_t, int32_t, int64_t>(CType::kS32, 7, 40); }
TEST(GemmTest, U8) { CheckRandomProducts<uint8_t, uint8_t, uint8_t, uint64_t>(CType::kU32, 8, 40); }
TEST(GemmTest, S64) { CheckRandomProducts<int64_t, int64_t, int64_t, int64_t>(CType::kS64, 9, 40); }
TEST(GemmTest, C64) {
  CheckRandomProducts<std::complex<float>, std::complex<float>, std::complex<float>,
                      std::complex<double>>(CType::kC64, 10, 40);
}
TEST(GemmTest, C128) {
  CheckRandomProducts<std::complex<double>, std::complex<double>, std::complex<double>,
                      std::complex<double>>(CType::kC128, 11, 40);
}

TEST(DotTest, ContractsSeveralDimsOfABatch) {
  // lhs [b, i, p, q], rhs [q, j, b, p] -> [b, i, j]
  const int64_t B = 3, I = 4, P = 5, Q = 6, J = 7;
  std::vector<float> x(B * I * P * Q), y(Q * J * B * P);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) - 6;
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(i % 11) - 5;
  const Literal a = Array<float>({B, I, P, Q}, x), b = Array<float>({Q, J, B, P}, y);
  const std::vector<float> out = RunOne<float>(R"(
    func.func @main(%a: tensor<3x4x5x6xf32>, %b: tensor<6x7x3x5xf32>) -> tensor<3x4x7xf32> {
      %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [2], contracting_dims = [2, 3] x [3, 0]
          : (tensor<3x4x5x6xf32>, tensor<6x7x3x5xf32>) -> tensor<3x4x7xf32>
      return %0 : tensor<3x4x7xf32>
    })",
                                               {&a, &b});
  ASSERT_EQ(out.size(), static_cast<size_t>(B * I * J));
  for (int64_t e = 0; e < B; ++e) {
    for (int64_t i = 0; i < I; ++i) {
      for (int64_t j = 0; j < J; ++j) {
        float sum = 0;
        for (int64_t p = 0; p < P; ++p) {
          for (int64_t q = 0; q < Q; ++q)
            sum += x[((e * I + i) * P + p) * Q + q] * y[((q * J + j) * B + e) * P + p];
        }
        EXPECT_EQ(out[(e * I + i) * J + j], sum) << e << " " << i << " " << j;
      }
    }
  }
}

// The matrix's columns fall into pieces, the last one narrower.
template <typename B>
void CheckRowsTimesWideMatrix(const std::string& type) {
  const int64_t kM = 2, kK = 700, kN = 2077;
  std::vector<float> x(kM * kK);
  std::vector<B> y(kK * kN);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13) - 6;
  for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<B>(static_cast<int>(i % 11) - 5);
  const Literal a = Array<float>({kM, kK}, x), b = Array<B>({kK, kN}, y);
  const std::string matrix = absl::StrCat("tensor<700x2077x", type, ">");
  const std::vector<float> out =
      RunOne<float>(absl::StrCat("func.func @main(%a: tensor<2x700xf32>, %b: ", matrix,
                                 R"() -> tensor<2x2077xf32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x700xf32>, )",
                                 matrix, R"() -> tensor<2x2077xf32>
      return %0 : tensor<2x2077xf32>
    })"),
                    {&a, &b});
  ASSERT_EQ(out.size(), static_cast<size_t>(kM * kN));
  for (int64_t i = 0; i < kM; ++i) {
    std::vector<float> sums(kN);
    for (int64_t p = 0; p < kK; ++p) {
      for (int64_t j = 0; j < kN; ++j) sums[j] += x[i * kK + p] * static_cast<float>(y[p * kN + j]);
    }
    for (int64_t j = 0; j < kN; ++j) ASSERT_EQ(out[i * kN + j], sums[j]) << i << " " << j;
  }
}

TEST(DotTest, AFewRowsTimesAWideMatrix) {
  CheckRowsTimesWideMatrix<float>("f32");
  CheckRowsTimesWideMatrix<int8_t>("i8");
}

TEST(DotTest, OperandsMayBeTransposedBroadcastOrReversed) {
  const Literal a = Array<float>({3, 2}, {1, 2, 3, 4, 5, 6}), v = Array<float>({3}, {1, 10, 100});
  const std::vector<float> out = RunOne<float>(R"(
    func.func @main(%a: tensor<3x2xf32>, %v: tensor<3xf32>) -> tensor<2x4xf32> {
      %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3xf32>
      %r = stablehlo.reverse %v, dims = [0] : tensor<3xf32>
      %b = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
      %0 = stablehlo.dot_general %t, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32>
    })",
                                               {&a, &v});
  EXPECT_EQ(out, (std::vector<float>{135, 135, 135, 135, 246, 246, 246, 246}));
}

TEST(DotTest, NothingToSumGivesZeros) {
  const Literal a = Array<int32_t>({2, 0}, {}), b = Array<int32_t>({0, 3}, {});
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%a: tensor<2x0xi32>, %b: tensor<0x3xi32>) -> tensor<2x3xi32> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x0xi32>, tensor<0x3xi32>) -> tensor<2x3xi32>
      return %0 : tensor<2x3xi32>
    })",
                            {&a, &b}),
            std::vector<int32_t>(6, 0));
}

TEST(DotTest, ProductsOfNegativeZerosAddUpToZero) {
  const Literal x = Array<float>({2}, {-0.0f, 0.0f}), y = Array<float>({2}, {5, -5});
  for (const char* form : {"[0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>",
                           "[] x [] : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>"}) {
    const std::string type = absl::StrContains(form, "2x2") ? "tensor<2x2xf32>" : "tensor<f32>";
    const std::vector<float> result = RunOne<float>(
        absl::StrCat("func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> ", type,
                     " {\n%0 = stablehlo.dot_general %x, %y, contracting_dims = ", form,
                     "\nreturn %0 : ", type, "\n}"),
        {&x, &y});
    ASSERT_FALSE(result.empty());
    for (float r : result) EXPECT_TRUE(r == 0 && !std::signbit(r)) << form;
  }
}

TEST(DotTest, IntegersWrapAround) {
  const Literal a = Array<int8_t>({1, 3}, {100, 100, 100}),
                b = Array<int8_t>({3, 1}, {100, 100, 1});
  EXPECT_EQ(RunOne<int8_t>(R"(
    func.func @main(%a: tensor<1x3xi8>, %b: tensor<3x1xi8>) -> tensor<1x1xi8> {
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1x3xi8>, tensor<3x1xi8>) -> tensor<1x1xi8>
      return %0 : tensor<1x1xi8>
    })",
                           {&a, &b}),
            std::vector<int8_t>{static_cast<int8_t>(20100 & 255)});
}

}  // namespace
}  // namespace pjrt::cpu

// SPDX-License-Identifier: Apache-2.0
//
// The type that the Builder infers for each of its ops.
#include <functional>
#include <memory>
#include <string>

#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "pjrt/ir/builder.h"

namespace pjrt::ir {
namespace {

// Values of many types to build with.
struct Inputs {
  Value* f;    // tensor<4x6xf32>
  Value* g;    // tensor<6x3xf32>
  Value* h;    // tensor<2x8x8x3xf32>
  Value* v;    // tensor<3xf32>
  Value* i;    // tensor<4x6xi32>
  Value* u;    // tensor<4x6xui8>
  Value* p;    // tensor<4x6xi1>
  Value* c;    // tensor<4x6xcomplex<f32>>
  Value* q;    // tensor<2x5x5xf32>
  Value* s;    // tensor<f32>
  Value* n;    // tensor<i32>
  Value* b;    // tensor<i1>
  Value* idx;  // tensor<7x1xi32>
};

// The types of what `make` gives, or the error; the program is verified as well.
std::string Infer(const std::function<Values(Builder&, const Inputs&)>& make) {
  Builder b;
  FunctionBuilder f = b.Function("main");
  Inputs in;
  in.f = f.Argument(F32, {4, 6});
  in.g = f.Argument(F32, {6, 3});
  in.h = f.Argument(F32, {2, 8, 8, 3});
  in.v = f.Argument(F32, {3});
  in.i = f.Argument(S32, {4, 6});
  in.u = f.Argument(U8, {4, 6});
  in.p = f.Argument(PRED, {4, 6});
  in.c = f.Argument(C64, {4, 6});
  in.q = f.Argument(F32, {2, 5, 5});
  in.s = f.Argument(F32, {});
  in.n = f.Argument(S32, {});
  in.b = f.Argument(PRED, {});
  in.idx = f.Argument(S32, {7, 1});
  const Values made = make(b, in);
  f.Return(made);
  const std::string types =
      !b.status().ok() ? "" : absl::StrJoin(made, ", ", [](std::string* out, Value* value) {
        out->append(value->type().ToString());
      });
  const absl::StatusOr<std::unique_ptr<Module>> module = b.Build();
  return module.ok() ? types : std::string(module.status().message());
}

Value* Sum(Builder& b, Value* x, Value* y) { return b.Add(x, y); }
Value* Greater(Builder& b, Value* x, Value* y) { return b.Compare(ComparisonDirection::kGe, x, y); }

#define EXPECT_INFERS(type, expression)              \
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) { \
              (void)in;                              \
              return Values{expression};             \
            }),                                      \
            type)                                    \
      << #expression

TEST(BuilderInferenceTest, ElementwiseOpsKeepTheType) {
  constexpr char kF[] = "tensor<4x6xf32>";
  EXPECT_INFERS(kF, b.Abs(in.f));
  EXPECT_INFERS(kF, b.Cbrt(in.f));
  EXPECT_INFERS(kF, b.Ceil(in.f));
  EXPECT_INFERS(kF, b.Cosine(in.f));
  EXPECT_INFERS(kF, b.Exponential(in.f));
  EXPECT_INFERS(kF, b.ExponentialMinusOne(in.f));
  EXPECT_INFERS(kF, b.Floor(in.f));
  EXPECT_INFERS(kF, b.Log(in.f));
  EXPECT_INFERS(kF, b.LogPlusOne(in.f));
  EXPECT_INFERS(kF, b.Logistic(in.f));
  EXPECT_INFERS(kF, b.Negate(in.f));
  EXPECT_INFERS(kF, b.RoundNearestAfz(in.f));
  EXPECT_INFERS(kF, b.RoundNearestEven(in.f));
  EXPECT_INFERS(kF, b.Rsqrt(in.f));
  EXPECT_INFERS(kF, b.Sign(in.f));
  EXPECT_INFERS(kF, b.Sine(in.f));
  EXPECT_INFERS(kF, b.Sqrt(in.f));
  EXPECT_INFERS(kF, b.Tan(in.f));
  EXPECT_INFERS(kF, b.Tanh(in.f));
  EXPECT_INFERS(kF, b.ReducePrecision(in.f, 5, 10));
  EXPECT_INFERS("tensor<4x6xi32>", b.CountLeadingZeros(in.i));
  EXPECT_INFERS("tensor<4x6xui8>", b.Popcnt(in.u));
  EXPECT_INFERS("tensor<4x6xi1>", b.Not(in.p));
  EXPECT_INFERS("tensor<4x6xi32>", b.Not(in.i));
}

TEST(BuilderInferenceTest, BinaryOpsKeepTheType) {
  constexpr char kF[] = "tensor<4x6xf32>";
  constexpr char kI[] = "tensor<4x6xi32>";
  EXPECT_INFERS(kF, b.Add(in.f, in.f));
  EXPECT_INFERS(kF, b.Atan2(in.f, in.f));
  EXPECT_INFERS(kF, b.Divide(in.f, in.f));
  EXPECT_INFERS(kF, b.Maximum(in.f, in.f));
  EXPECT_INFERS(kF, b.Minimum(in.f, in.f));
  EXPECT_INFERS(kF, b.Multiply(in.f, in.f));
  EXPECT_INFERS(kF, b.Power(in.f, in.f));
  EXPECT_INFERS(kF, b.Remainder(in.f, in.f));
  EXPECT_INFERS(kF, b.Subtract(in.f, in.f));
  EXPECT_INFERS(kI, b.And(in.i, in.i));
  EXPECT_INFERS(kI, b.Or(in.i, in.i));
  EXPECT_INFERS(kI, b.Xor(in.i, in.i));
  EXPECT_INFERS(kI, b.ShiftLeft(in.i, in.i));
  EXPECT_INFERS(kI, b.ShiftRightArithmetic(in.i, in.i));
  EXPECT_INFERS(kI, b.ShiftRightLogical(in.i, in.i));
}

TEST(BuilderInferenceTest, ElementTypesThatChange) {
  EXPECT_INFERS("tensor<4x6xf32>", b.Abs(in.c));
  EXPECT_INFERS("tensor<4x6xf32>", b.Real(in.c));
  EXPECT_INFERS("tensor<4x6xf32>", b.Imag(in.c));
  EXPECT_INFERS("tensor<4x6xi1>", b.IsFinite(in.f));
  EXPECT_INFERS("tensor<4x6xcomplex<f32>>", b.Complex(in.f, in.f));
  EXPECT_INFERS("tensor<4x6xi1>", b.Compare(ComparisonDirection::kLt, in.f, in.f));
  EXPECT_INFERS("tensor<4x6xi1>",
                b.Compare(ComparisonDirection::kLt, in.f, in.f, ComparisonType::kTotalOrder));
  EXPECT_INFERS("tensor<4x6xf32>", b.Select(in.p, in.f, in.f));
  EXPECT_INFERS("tensor<4x6xf32>", b.Select(in.b, in.f, in.f));
  EXPECT_INFERS("tensor<4x6xf32>", b.Clamp(in.s, in.f, in.s));
  EXPECT_INFERS("tensor<4x6xbf16>", b.Convert(in.f, BF16));
  EXPECT_INFERS("tensor<4x6x4xi8>", b.BitcastConvert(in.f, S8, {4, 6, 4}));
}

TEST(BuilderInferenceTest, Shapes) {
  EXPECT_INFERS("tensor<2x3xui16>", b.Iota(U16, {2, 3}, 1));
  EXPECT_INFERS("tensor<2x3xf32>", b.BroadcastInDim(in.v, {2, 3}, {1}));
  EXPECT_INFERS("tensor<8x6xf32>", b.Concatenate({in.f, in.f}, 0));
  EXPECT_INFERS("tensor<8x5xf32>", b.Pad(in.f, in.s, {1, 0}, {0, -1}, {1, 0}));
  EXPECT_INFERS("tensor<24xf32>", b.Reshape(in.f, {24}));
  EXPECT_INFERS("tensor<4x6xf32>", b.Reverse(in.f, {1}));
  EXPECT_INFERS("tensor<6x4xf32>", b.Transpose(in.f, {1, 0}));
  EXPECT_INFERS("tensor<2x3xf32>", b.Slice(in.f, {1, 0}, {3, 6}, {1, 2}));
  EXPECT_INFERS("tensor<1x6xf32>", b.DynamicSlice(in.f, {in.n, in.n}, {1, 6}));
  EXPECT_INFERS("tensor<4x6xf32>",
                b.DynamicUpdateSlice(in.f, b.Slice(in.f, {0, 0}, {1, 2}, {1, 1}), {in.n, in.n}));
  EXPECT_INFERS("tensor<i32>", b.GetDimensionSize(in.f, 1));
  EXPECT_INFERS("tensor<4x?xf32, #stablehlo.bounds<?, 6>>", b.SetDimensionSize(in.f, in.n, 1));
}

TEST(BuilderInferenceTest, GatherAndScatter) {
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              GatherDimensionNumbers numbers;
              numbers.offset_dims = {1};
              numbers.collapsed_slice_dims = {0};
              numbers.start_index_map = {0};
              numbers.index_vector_dim = 1;
              return Values{b.Gather(in.f, in.idx, numbers, {1, 6})};
            }),
            "tensor<7x6xf32>");
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              ScatterDimensionNumbers numbers;
              numbers.update_window_dims = {1};
              numbers.inserted_window_dims = {0};
              numbers.scatter_dims_to_operand_dims = {0};
              numbers.index_vector_dim = 1;
              return Values{b.Scatter(in.f, in.idx, b.Splat(1.0f, {7, 6}), numbers, Sum)};
            }),
            "tensor<4x6xf32>");
}

TEST(BuilderInferenceTest, Contractions) {
  EXPECT_INFERS("tensor<4x3xf32>", b.Dot(in.f, in.g));
  EXPECT_INFERS("tensor<6xf32>", b.Dot(in.g, in.v));
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              DotDimensionNumbers numbers;
              numbers.lhs_batching_dimensions = {0};
              numbers.rhs_batching_dimensions = {0};
              numbers.lhs_contracting_dimensions = {2};
              numbers.rhs_contracting_dimensions = {1};
              return Values{b.DotGeneral(in.q, in.q, numbers, Precision::kHighest, F64)};
            }),
            "tensor<2x5x5xf64>");
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              ConvDimensionNumbers numbers;
              numbers.input_batch_dimension = 0;
              numbers.input_feature_dimension = 3;
              numbers.input_spatial_dimensions = {1, 2};
              numbers.kernel_input_feature_dimension = 2;
              numbers.kernel_output_feature_dimension = 3;
              numbers.kernel_spatial_dimensions = {0, 1};
              numbers.output_batch_dimension = 0;
              numbers.output_feature_dimension = 3;
              numbers.output_spatial_dimensions = {1, 2};
              WindowAttrs window;
              window.dimensions.resize(2);
              window.dimensions[0].stride = 2;
              window.dimensions[1].padding_low = 1;
              return Values{b.Convolution(in.h, b.Splat(1.0f, {3, 3, 3, 16}), numbers, window)};
            }),
            "tensor<2x3x7x16xf32>");
}

TEST(BuilderInferenceTest, Reductions) {
  EXPECT_INFERS("tensor<6xf32>", b.Reduce(in.f, in.s, {0}, Sum));
  EXPECT_INFERS("tensor<f32>", b.ReduceSum(in.f, {0, 1}));
  EXPECT_INFERS("tensor<4xf32>", b.ReduceMax(in.f, {1}));
  EXPECT_INFERS("tensor<4xui8>", b.ReduceMax(in.u, {1}));
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              return b
                  .Reduce({in.f, in.i}, {in.s, in.n}, {0},
                          [](Builder& r, ValueSpan v) {
                            return Values{r.Add(v[0], v[2]), r.Add(v[1], v[3])};
                          })
                  .ToValues();
            }),
            "tensor<6xf32>, tensor<6xi32>");
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              WindowAttrs window;
              window.dimensions.resize(2);
              window.dimensions[1].size = 3;
              window.dimensions[1].stride = 2;
              window.dimensions[1].padding_high = 1;
              return Values{b.ReduceWindow(in.f, in.s, window, Sum)};
            }),
            "tensor<4x3xf32>");
  EXPECT_EQ(
      Infer([](Builder& b, const Inputs& in) {
        WindowAttrs window;
        window.dimensions.resize(2);
        window.dimensions[1].size = 2;
        window.dimensions[1].stride = 2;
        return Values{b.SelectAndScatter(in.f, b.Splat(1.0f, {4, 3}), in.s, window, Greater, Sum)};
      }),
      "tensor<4x6xf32>");
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              return Values{b.Map({in.f, in.i}, [](Builder& m, ValueSpan v) {
                return Values{m.Add(m.Convert(v[0], S32), v[1])};
              })};
            }),
            "tensor<4x6xi32>");
  EXPECT_INFERS("tensor<4x6xf32>", b.Sort(in.f, -1, true, Greater));
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              return b
                  .Sort({in.f, in.i}, 0, false,
                        [](Builder& s, ValueSpan v) { return Values{Greater(s, v[0], v[1])}; })
                  .ToValues();
            }),
            "tensor<4x6xf32>, tensor<4x6xi32>");
}

TEST(BuilderInferenceTest, LinearAlgebraAndNormalization) {
  EXPECT_INFERS("tensor<2x5x5xf32>", b.Cholesky(in.q, true));
  EXPECT_INFERS("tensor<2x5x5xf32>",
                b.TriangularSolve(in.q, in.q, true, true, false, Transpose::kNoTranspose));
  EXPECT_INFERS("tensor<4x4xcomplex<f32>>", b.Fft(in.f, FftType::kRfft, {6}));
  EXPECT_INFERS("tensor<4x10xf32>", b.Fft(in.c, FftType::kIrfft, {10}));
  EXPECT_INFERS("tensor<4x6xcomplex<f32>>", b.Fft(in.c, FftType::kFft, {6}));
  EXPECT_INFERS("tensor<2x8x8x3xf32>",
                b.BatchNormInference(in.h, in.v, in.v, in.v, in.v, 0.001f, 3));
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              return b.BatchNormTraining(in.h, in.v, in.v, 0.001f, 3).ToValues();
            }),
            "tensor<2x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>");
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              return b.BatchNormGrad(in.h, in.v, in.v, in.v, in.h, 0.001f, 3).ToValues();
            }),
            "tensor<2x8x8x3xf32>, tensor<3xf32>, tensor<3xf32>");
}

TEST(BuilderInferenceTest, RandomNumbers) {
  EXPECT_INFERS("tensor<3x4xf32>", b.Rng(in.s, in.s, {3, 4}, RngDistribution::kNormal));
  EXPECT_EQ(
      Infer([](Builder& b, const Inputs&) {
        return b.RngBitGenerator(b.ConstantR1<uint64_t>({1, 2}), RngAlgorithm::kThreeFry, U32, {8})
            .ToValues();
      }),
      "tensor<2xui64>, tensor<8xui32>");
}

TEST(BuilderInferenceTest, TuplesTokensAndCalls) {
  EXPECT_INFERS("tuple<tensor<f32>, tensor<i32>>", b.Tuple({in.s, in.n}));
  EXPECT_INFERS("tensor<i32>", b.GetTupleElement(b.Tuple({in.s, in.n}), 1));
  EXPECT_INFERS("!stablehlo.token", b.AfterAll({b.CreateToken(), b.CreateToken()}));
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              return b.OptimizationBarrier({in.s, in.n}).ToValues();
            }),
            "tensor<f32>, tensor<i32>");
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) {
              return b
                  .CustomCall("mine", {in.s}, {b.TensorType(F32, {7})},
                              {{"has_side_effect", b.context().Bool(true)}})
                  .ToValues();
            }),
            "tensor<7xf32>");
}

TEST(BuilderInferenceTest, ErrorsOfInferenceNameTheRule) {
  EXPECT_EQ(Infer([](Builder& b, const Inputs& in) { return Values{b.Dot(in.f, in.f)}; }),
            "[PJRT-V011] in @main: 'stablehlo.dot_general' op: contracting dimensions 1 of lhs and "
            "0 of rhs must have the same "
            "size; given tensor<4x6xf32> and tensor<4x6xf32>");
}

#undef EXPECT_INFERS

}  // namespace
}  // namespace pjrt::ir

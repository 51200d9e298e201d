// SPDX-License-Identifier: Apache-2.0
//
// Random valid StableHLO programs together with what they compute, worked out element by element by
// an interpreter that shares nothing with the library but the rounding of f16 and bf16.
#ifndef PJRT_TESTS_CPU_RANDOM_PROGRAM_H_
#define PJRT_TESTS_CPU_RANDOM_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "tests/cpu/test_tensor.h"

namespace pjrt::cpu {

class RandomProgram {
 public:
  // About `num_ops` ops on arrays of not much more than `max_elements` elements. Equal seeds give
  // equal programs.
  RandomProgram(uint32_t seed, int num_ops, int64_t max_elements = 20000);

  const std::string& text() const { return text_; }
  const std::vector<Tensor>& arguments() const { return arguments_; }
  const std::vector<Tensor>& results() const { return results_; }

 private:
  using Id = int;
  // Computes one value from others of the environment.
  using Eval = std::function<Tensor(const std::vector<Tensor>&)>;
  struct Node {
    Id id;
    Eval eval;
  };
  using Nodes = std::vector<Node>;

  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  bool OneIn(int n) { return Below(n) == 0; }
  const Tensor& at(Id id) const { return env_[id]; }
  static std::string Name(Id id) { return "%v" + std::to_string(id); }

  PrimitiveType RandomType();
  std::vector<int64_t> RandomDims();
  Tensor RandomTensor(PrimitiveType type, std::vector<int64_t> dims);

  // A value in scope.
  Id Pick();
  // Appends an op's text and value; the result is in scope from now on.
  Id Add(const std::string& text, Eval eval);
  Id AddOp(const std::string& op, const std::vector<Id>& operands, const std::string& attributes,
           const std::string& signature, Eval eval);

  // A value of this type and shape made from `id`, or anything else of that kind in scope.
  Id Like(Id id);
  Id ConvertTo(Id id, PrimitiveType type);
  Id Constant(const Tensor& value);

  // Whether sums of these values are exact in any order.
  static bool SumsAreExact(const Tensor& t);
  // Whether all are whole numbers of at most 8.
  static bool IsSmall(const Tensor& t);
  // Small whole numbers that depend on data, so that nothing is known beforehand.
  Id SmallNumbers(PrimitiveType type, const std::vector<int64_t>& dims);

  void RandomOp();
  Id Unary(Id a);
  Id ComplexUnary(Id a);
  Id Binary(Id a);
  Id CompareAndSelect(Id a);
  Id Clamp(Id a);
  Id Broadcast(Id a);
  Id Transpose(Id a);
  Id Slice(Id a);
  Id Reverse(Id a);
  Id Reshape(Id a);
  Id Concatenate(Id a);
  Id Pad(Id a);
  Id Iota();
  Id Reduce(Id a);
  Id ArgMax(Id a);
  Id Dot(Id a);
  Id Convolution(Id a);
  Id Places(int64_t rows, int64_t columns);
  Id DynamicSlice(Id a, bool update);
  Id GatherOrScatter(Id a);
  Id Sort(Id a);
  Id ReduceWindow(Id a);
  void If(Id a);
  void While(Id a);

  int64_t max_elements_;
  std::mt19937 random_;
  std::vector<Tensor> env_;
  std::vector<Id> scope_;
  std::string text_, body_;
  std::string indent_ = "  ";
  Nodes* nodes_ = nullptr;  // where ops of a region that runs repeatedly are kept
  int depth_ = 0;
  std::vector<Tensor> arguments_, results_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_RANDOM_PROGRAM_H_

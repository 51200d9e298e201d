// SPDX-License-Identifier: Apache-2.0
//
// Scalar programs give the same bits when they have been made shorter, and are shorter.
#include "src/cpu_device/loop/scalar_optimizer.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace pjrt::cpu {
namespace {

using O = ScalarOp;

ScalarInstr Make(O op, uint16_t dst, uint16_t a, uint16_t b = 0, uint16_t c = 0, int64_t imm = 0) {
  ScalarInstr in;
  in.op = op;
  in.dst = dst;
  in.a = a;
  in.b = b;
  in.c = c;
  in.u.imm = imm;
  return in;
}

uint64_t Bits(float value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(value));
  return bits;
}

std::vector<O> OpsOf(const std::vector<ScalarInstr>& code) {
  std::vector<O> ops;
  for (const ScalarInstr& in : code) ops.push_back(in.op);
  return ops;
}

// Registers 0 to 3 are constants.
const std::vector<uint64_t> kConstants = {0, 1, 10, Bits(0.5f)};

std::vector<O> Optimized(std::vector<ScalarInstr> code, std::vector<uint16_t> live_out) {
  OptimizeScalarCode(kConstants, live_out, 20, &code);
  return OpsOf(code);
}

TEST(ScalarOptimizerTest, CopiesOfResultsGoAway) {
  EXPECT_EQ(Optimized({Make(O::kSub32, 10, 4, 5), Make(O::kMove, 6, 10), Make(O::kEnd, 0, 0)}, {6}),
            (std::vector<O>{O::kSub32, O::kEnd}));
}

TEST(ScalarOptimizerTest, AResultWaitsForReadersOfWhatItReplaces) {
  // r4 is read by the load between the sum and its copy.
  std::vector<ScalarInstr> code = {Make(O::kSub32, 10, 4, 1), Make(O::kNeg32, 5, 4),
                                   Make(O::kMove, 4, 10), Make(O::kEnd, 0, 0)};
  OptimizeScalarCode(kConstants, {{4, 5}}, 20, &code);
  EXPECT_EQ(OpsOf(code), (std::vector<O>{O::kNeg32, O::kSub32, O::kEnd}));
  EXPECT_EQ(code[1].dst, 4);
}

TEST(ScalarOptimizerTest, WhatNobodyReadsIsNotComputed) {
  EXPECT_EQ(
      Optimized({Make(O::kSub32, 10, 4, 5), Make(O::kMul32, 6, 4, 5), Make(O::kEnd, 0, 0)}, {6}),
      (std::vector<O>{O::kMul32, O::kEnd}));
}

TEST(ScalarOptimizerTest, WhatIsComputedTwiceIsComputedOnce) {
  EXPECT_EQ(Optimized({Make(O::kSub32, 10, 4, 5), Make(O::kSub32, 11, 4, 5),
                       Make(O::kDivS32, 6, 10, 11), Make(O::kEnd, 0, 0)},
                      {6}),
            (std::vector<O>{O::kSub32, O::kDivS32, O::kEnd}));
}

TEST(ScalarOptimizerTest, ALoadIsDoneAgainBehindAStore) {
  const std::vector<ScalarInstr> code = {Make(O::kLoad32, 10, 4), Make(O::kStore32, 0, 4, 5),
                                         Make(O::kLoad32, 11, 4), Make(O::kDivS32, 6, 10, 11),
                                         Make(O::kEnd, 0, 0)};
  EXPECT_EQ(Optimized(code, {6}), OpsOf(code));
}

TEST(ScalarOptimizerTest, ACountingLoopEndsWithOneInstruction) {
  EXPECT_EQ(Optimized({Make(O::kMul32, 5, 5, 4), Make(O::kAdd32, 10, 4, 1), Make(O::kMove, 4, 10),
                       Make(O::kJumpIfLtS32, 0, 10, 2, 0, -3), Make(O::kEnd, 0, 0)},
                      {5}),
            (std::vector<O>{O::kMul32, O::kAddJumpIfLtS32, O::kEnd}));
}

TEST(ScalarOptimizerTest, AJumpByTwoComparisonsIsTwoJumps) {
  const auto jumps = [](O both, O jump) {
    return Optimized({Make(O::kLtS32, 10, 4, 5), Make(O::kLtF32, 11, 6, 7), Make(both, 12, 10, 11),
                      Make(jump, 0, 12, 0, 0, 2), Make(O::kAdd32, 8, 8, 1), Make(O::kEnd, 0, 0)},
                     {8});
  };
  EXPECT_EQ(jumps(O::kAnd, O::kJumpIf),
            (std::vector<O>{O::kJumpUnlessLtS32, O::kJumpIfLtF32, O::kAdd32, O::kEnd}));
  EXPECT_EQ(jumps(O::kAnd, O::kJumpUnless),
            (std::vector<O>{O::kJumpUnlessLtS32, O::kJumpUnlessLtF32, O::kAdd32, O::kEnd}));
  EXPECT_EQ(jumps(O::kOr, O::kJumpIf),
            (std::vector<O>{O::kJumpIfLtS32, O::kJumpIfLtF32, O::kAdd32, O::kEnd}));
  EXPECT_EQ(jumps(O::kOr, O::kJumpUnless),
            (std::vector<O>{O::kJumpIfLtS32, O::kJumpUnlessLtF32, O::kAdd32, O::kEnd}));
  // One of them from elsewhere.
  EXPECT_EQ(
      Optimized({Make(O::kLtS32, 10, 4, 5), Make(O::kAnd, 12, 6, 10),
                 Make(O::kJumpIf, 0, 12, 0, 0, 2), Make(O::kAdd32, 8, 8, 1), Make(O::kEnd, 0, 0)},
                {8}),
      (std::vector<O>{O::kJumpUnless, O::kJumpIfLtS32, O::kAdd32, O::kEnd}));
  // The conjunction is read behind the jump.
  EXPECT_EQ(
      Optimized({Make(O::kLtS32, 10, 4, 5), Make(O::kLtF32, 11, 6, 7), Make(O::kAnd, 12, 10, 11),
                 Make(O::kJumpIf, 0, 12, 0, 0, 2), Make(O::kAdd32, 8, 8, 1), Make(O::kEnd, 0, 0)},
                {8, 12}),
      (std::vector<O>{O::kLtS32, O::kLtF32, O::kAnd, O::kJumpIf, O::kAdd32, O::kEnd}));
}

TEST(ScalarOptimizerTest, IndexAndAccessAreOneInstruction) {
  EXPECT_EQ(Optimized({Make(O::kLtS32, 10, 5, 0), Make(O::kAdd32, 11, 5, 2),
                       Make(O::kSelect, 12, 10, 11, 5), Make(O::kIndexS32, 13, 12, 0, 2, 4),
                       Make(O::kLoadAt32, 6, 4, 13), Make(O::kIndexS32, 10, 5, 0, 2, 4),
                       Make(O::kStoreAt32, 0, 4, 10, 6, 8), Make(O::kEnd, 0, 0)},
                      {6}),
            (std::vector<O>{O::kWrapS32, O::kLoadIndexS32x32, O::kStoreIndexS32x32, O::kEnd}));
}

TEST(ScalarOptimizerTest, FloatsGoFromOneInstructionToTheNext) {
  EXPECT_EQ(
      Optimized({Make(O::kMulF32, 10, 4, 5), Make(O::kSubF32, 11, 3, 10),
                 Make(O::kDivF32, 12, 6, 11), Make(O::kAddF32, 7, 12, 5), Make(O::kEnd, 0, 0)},
                {7}),
      (std::vector<O>{O::kMulThenSubFromF32, O::kLastDivIntoThenAddF32, O::kEnd}));
}

// --- Random programs, as they are and made shorter ---

class RandomCode {
 public:
  explicit RandomCode(uint32_t seed) : random_(seed) {}

  // Registers: constants, the array's address, the loop's counter, then some of each kind.
  static constexpr int kNumConstants = 4, kAddress = 4, kCounter = 5, kFirst = 6, kEach = 7;
  static constexpr int kNumRegisters = kFirst + 4 * kEach, kArray = 11;
  enum Kind { kInt, kLong, kFloat, kPred };

  std::vector<ScalarInstr> Program() {
    std::vector<ScalarInstr> code;
    // A loop of five iterations, with branches forwards.
    code.push_back(Make(O::kMove, kCounter, 0));
    const int length = 5 + Below(30);
    std::vector<int> jumps;
    for (int i = 0; i < length; ++i) {
      if (Below(8) == 0) {  // Where one of two, or both, hold.
        const uint16_t p = To(kPred), q = To(kPred), both = To(kPred);
        code.push_back(Make(Pick({O::kLtF32, O::kLeF32}), p, Any(kFloat), Any(kFloat)));
        if (Below(4) != 0)
          code.push_back(Make(Pick({O::kLtS32, O::kEq32}), q, Any(kInt), Any(kInt)));
        code.push_back(Make(Pick({O::kAnd, O::kOr}), both, p, q));
        jumps.push_back(static_cast<int>(code.size()));
        code.push_back(Make(Pick({O::kJumpIf, O::kJumpUnless}), 0, both));
      } else if (Below(8) == 0) {
        jumps.push_back(static_cast<int>(code.size()));
        const O op = Below(2) ? O::kJumpIf : O::kJumpUnlessLtS32;
        code.push_back(op == O::kJumpIf ? Make(op, 0, Any(kPred))
                                        : Make(op, 0, Any(kInt), Any(kInt)));
      }
      Append(&code);
      // Jumps end here at the latest, some earlier.
      for (size_t k = 0; k < jumps.size();) {
        if (Below(3) == 0) {
          code[jumps[k]].u.imm = static_cast<int64_t>(code.size()) - jumps[k];
          jumps.erase(jumps.begin() + k);
        } else {
          ++k;
        }
      }
    }
    for (int jump : jumps) code[jump].u.imm = static_cast<int64_t>(code.size()) - jump;
    code.push_back(Make(O::kAdd32, kFirst, kCounter, 1));
    code.push_back(Make(O::kMove, kCounter, kFirst));
    code.push_back(Make(O::kJumpIfLtS32, 0, kCounter, 2, 0, 1 - static_cast<int64_t>(code.size())));
    code.push_back(Make(O::kEnd, 0, 0));
    return code;
  }

  std::vector<uint64_t> Registers() {
    std::vector<uint64_t> registers = {0, 1, 5, 9, 0, 0};
    for (int i = 0; i < kEach; ++i) registers.push_back(static_cast<uint32_t>(Below(20) - 10));
    for (int i = 0; i < kEach; ++i) registers.push_back(static_cast<uint64_t>(Below(20) - 10));
    for (int i = 0; i < kEach; ++i)
      registers.push_back(Bits(static_cast<float>(Below(64) - 20) / 8));
    for (int i = 0; i < kEach; ++i) registers.push_back(Below(2));
    return registers;
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  uint16_t Any(Kind kind) {
    if (kind == kInt && Below(4) == 0) return static_cast<uint16_t>(Below(kNumConstants));
    return static_cast<uint16_t>(kFirst + kind * kEach + Below(kEach));
  }
  uint16_t To(Kind kind) { return static_cast<uint16_t>(kFirst + kind * kEach + Below(kEach)); }
  O Pick(std::initializer_list<O> ops) { return ops.begin()[Below(static_cast<int>(ops.size()))]; }

  void Append(std::vector<ScalarInstr>* code) {
    const Kind kind = static_cast<Kind>(Below(4));
    switch (Below(9)) {
      case 0:
        return code->push_back(Make(O::kMove, To(kind), Any(kind)));
      case 1:
        return code->push_back(Make(O::kSelect, To(kind), Any(kPred), Any(kind), Any(kind)));
      case 2: {  // An access to the array.
        const uint16_t at = To(kLong);
        code->push_back(Below(2) ? Make(O::kIndexS32, at, Any(kInt), 0, 3, 4)
                                 : Make(O::kMulAdd, at, 2, 0, 0, 4 * Below(2)));
        return code->push_back(Below(2) ? Make(O::kLoadAt32, To(kInt), kAddress, at, 0, 4)
                                        : Make(O::kStoreAt32, 0, kAddress, at, Any(kInt), 4));
      }
      case 3: {  // x < 0 ? x + n : x
        const uint16_t x = Any(kInt), less = To(kPred), sum = To(kInt);
        code->push_back(Make(O::kLtS32, less, x, 0));
        code->push_back(Make(O::kAdd32, sum, x, Any(kInt)));
        return code->push_back(Make(O::kSelect, To(kInt), less, sum, x));
      }
      case 4:
        return code->push_back(Make(Pick({O::kLtS32, O::kEq32, O::kNe32, O::kLeU32}), To(kPred),
                                    Any(kInt), Any(kInt)));
      default:
        break;
    }
    switch (kind) {
      case kInt:
        return code->push_back(Make(Pick({O::kAdd32, O::kSub32, O::kMul32, O::kAnd, O::kOr, O::kXor,
                                          O::kShl32, O::kShr32, O::kDivS32, O::kMaxS32}),
                                    To(kind), Any(kind), Any(kind)));
      case kLong:
        return code->push_back(Make(Pick({O::kAdd64, O::kSub64, O::kMul64, O::kAnd, O::kOr, O::kXor,
                                          O::kShl64, O::kShr64, O::kRemS64}),
                                    To(kind), Any(kind), Any(kind)));
      case kFloat:
        return code->push_back(
            Make(Pick({O::kAddF32, O::kSubF32, O::kMulF32, O::kDivF32, O::kMaxF32}), To(kind),
                 Any(kind), Any(kind)));
      case kPred:
        return code->push_back(
            Make(Pick({O::kLtF32, O::kLeF32}), To(kind), Any(kFloat), Any(kFloat)));
    }
  }

  std::mt19937 random_;
};

TEST(ScalarOptimizerTest, RandomProgramsKeepTheirBits) {
  using R = RandomCode;
  size_t before = 0, after = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomCode random(seed);
    std::vector<ScalarInstr> code = random.Program();
    const std::vector<uint64_t> start = random.Registers();
    std::vector<uint16_t> live_out;
    for (int r = R::kFirst; r < R::kNumRegisters; r += 1 + static_cast<int>(seed % 3))
      live_out.push_back(static_cast<uint16_t>(r));
    const auto run = [&](std::vector<ScalarInstr>& linked, std::vector<uint32_t>& array) {
      array.assign(R::kArray, 7);
      std::vector<uint64_t> registers = start;
      registers[R::kAddress] = reinterpret_cast<uint64_t>(array.data());
      LinkScalarCode(absl::MakeSpan(linked));
      RunScalarCode(linked.data(), registers.data());
      return registers;
    };
    std::vector<ScalarInstr> shorter = code;
    OptimizeScalarCode({start.data(), R::kNumConstants}, live_out, R::kNumRegisters, &shorter);
    std::vector<uint32_t> want_array, array;
    const std::vector<uint64_t> want = run(code, want_array), got = run(shorter, array);
    EXPECT_EQ(array, want_array) << "seed " << seed;
    for (uint16_t r : live_out) {
      if ((r - R::kFirst) / R::kEach != R::kFloat) {
        EXPECT_EQ(got[r], want[r]) << "seed " << seed << ", register " << r;
        continue;
      }
      float x, y;
      std::memcpy(&x, &got[r], sizeof(x));
      std::memcpy(&y, &want[r], sizeof(y));
      EXPECT_TRUE(got[r] == want[r] || (std::isnan(x) && std::isnan(y)))
          << "seed " << seed << ", register " << r << ": " << x << ", not " << y;
    }
    before += code.size();
    after += shorter.size();
  }
  EXPECT_LT(after, before);
}

}  // namespace
}  // namespace pjrt::cpu

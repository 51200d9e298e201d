// SPDX-License-Identifier: Apache-2.0
//
// The op table: every op has a sensible row.
#include "pjrt/ir/op_set.h"

#include <set>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pjrt/ir/context.h"

namespace pjrt::ir {
namespace {

TEST(OpSetTest, EveryOpHasARowThatItsNameFinds) {
  EXPECT_EQ(AllOps().size(), static_cast<size_t>(OpCode::kCount) - 1);
  std::set<absl::string_view> names;
  for (const OpInfo& op : AllOps()) {
    EXPECT_FALSE(op.name.empty());
    EXPECT_FALSE(op.summary.empty()) << op.name;
    EXPECT_EQ(LookupOp(op.name), op.code) << op.name;
    EXPECT_EQ(&GetOpInfo(op.code), &op) << op.name;
    EXPECT_TRUE(names.insert(op.name).second) << op.name;
  }
}

TEST(OpSetTest, UnknownNamesHaveNoRow) {
  EXPECT_EQ(LookupOp("stablehlo.nothing"), OpCode::kUnknown);
  EXPECT_EQ(LookupOp(""), OpCode::kUnknown);
  EXPECT_TRUE(GetOpInfo(OpCode::kUnknown).name.empty());
  EXPECT_TRUE(GetOpInfo(OpCode::kCount).name.empty());
}

TEST(OpSetTest, AttributesNameEnumsAndStructsThatExist) {
  for (const OpInfo& op : AllOps()) {
    std::set<absl::string_view> seen;
    for (const AttrSpec& attr : op.attributes) {
      EXPECT_TRUE(seen.insert(attr.name).second) << op.name << " " << attr.name;
      if (attr.type == AttrType::kEnum || attr.type == AttrType::kEnumArray) {
        EXPECT_FALSE(EnumValues(attr.detail).empty()) << op.name << " " << attr.name;
      }
      if (attr.type == AttrType::kStruct) {
        EXPECT_FALSE(StructFields(attr.detail).empty()) << op.name << " " << attr.name;
      }
    }
  }
}

TEST(OpSetTest, FormatsNameAttributesOfTheRow) {
  for (const OpInfo& op : AllOps()) {
    for (size_t at = op.format.find('@'); at != absl::string_view::npos;
         at = op.format.find('@', at + 1)) {
      const absl::string_view rest = op.format.substr(at + 1);
      const absl::string_view name = rest.substr(0, rest.find(':'));
      bool found = false;
      for (const AttrSpec& attr : op.attributes) found = found || attr.name == name;
      EXPECT_TRUE(found) << op.name << " has no attribute " << name;
    }
  }
}

TEST(OpSetTest, AnOptionalAttributeMayHaveADefault) {
  for (const OpInfo& op : AllOps()) {
    for (const AttrSpec& attr : op.attributes) {
      EXPECT_TRUE(attr.fallback.empty() || attr.optional) << op.name << " " << attr.name;
    }
  }
}

TEST(OpSetTest, OpsOfStableHloAreInferredOrVerified) {
  // The rest either gives nothing or is checked by its row alone.
  const std::set<absl::string_view> row_only = {"stablehlo.return"};
  for (const OpInfo& op : AllOps()) {
    if (!absl::StartsWith(op.name, "stablehlo.") || row_only.count(op.name)) continue;
    EXPECT_TRUE(op.infer != nullptr || op.verify != nullptr) << op.name;
  }
}

TEST(OpSetTest, EnumsHaveTheirValuesInOrder) {
  EXPECT_EQ(EnumValues("stablehlo.precision")[2], "HIGHEST");
  EXPECT_EQ(EnumValues("stablehlo.rng_distribution")[1], "UNIFORM");  // numbered from 1
  EXPECT_TRUE(EnumValues("stablehlo.nothing").empty());
  EXPECT_EQ(StructFields("stablehlo.conv").size(), 9u);
  EXPECT_TRUE(StructFields("stablehlo.nothing").empty());
}

TEST(OpSetTest, VariadicOperandsShareWhatIsLeft) {
  const absl::Span<const OperandSpec> scatter = GetOpInfo(OpCode::kScatter).operands;
  absl::InlinedVector<size_t, 6> sizes;
  EXPECT_TRUE(SplitOperands(scatter, 7, Attribute(), &sizes));
  EXPECT_EQ(sizes, (absl::InlinedVector<size_t, 6>{3, 1, 3}));
  EXPECT_FALSE(SplitOperands(scatter, 6, Attribute(), &sizes));
  EXPECT_FALSE(SplitOperands(scatter, 0, Attribute(), &sizes));
  EXPECT_TRUE(SplitOperands(GetOpInfo(OpCode::kAdd).operands, 2, Attribute(), &sizes));
  EXPECT_FALSE(SplitOperands(GetOpInfo(OpCode::kAdd).operands, 3, Attribute(), &sizes));
}

TEST(OpSetTest, SegmentSizesSayWhatBelongsWhere) {
  const absl::Span<const OperandSpec> scan = GetOpInfo(OpCode::kChloScan).operands;
  Context context;
  absl::InlinedVector<size_t, 6> sizes;
  EXPECT_TRUE(SplitOperands(scan, 3, context.DenseArray(context.Integer(32), {1, 2}), &sizes));
  EXPECT_EQ(sizes, (absl::InlinedVector<size_t, 6>{1, 2}));
  EXPECT_FALSE(SplitOperands(scan, 4, context.DenseArray(context.Integer(32), {1, 2}), &sizes));
  EXPECT_FALSE(SplitOperands(scan, 3, context.DenseArray(context.Integer(32), {-1, 4}), &sizes));
  EXPECT_FALSE(SplitOperands(scan, 3, context.DenseArray(context.Integer(32), {3}), &sizes));
}

TEST(OpSetTest, InferenceNeedsARowThatInfers) {
  Context context;
  InferInput in;
  in.context = &context;
  in.code = OpCode::kCustomCall;
  TypeList out;
  EXPECT_EQ(InferResultTypes(in, &out).code(), absl::StatusCode::kUnimplemented);
  in.code = OpCode::kAdd;
  EXPECT_EQ(InferResultTypes(in, &out).code(), absl::StatusCode::kInvalidArgument);
  in.code = OpCode::kCreateToken;
  EXPECT_TRUE(InferResultTypes(in, &out).ok());
  EXPECT_EQ(out[0].ToString(), "!stablehlo.token");
}

}  // namespace
}  // namespace pjrt::ir

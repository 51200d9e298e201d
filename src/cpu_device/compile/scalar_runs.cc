// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/scalar_runs.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "src/cpu_device/steps/scalar_assembler.h"
#include "src/cpu_device/steps/scalar_step.h"

namespace pjrt::cpu {
namespace {

class Rewriter {
 public:
  Rewriter(const PlanBuilder& builder, const BlockKernels& kernels, const Plan& plan)
      : builder_(builder), kernels_(kernels), plan_(plan) {}

  void Rewrite(Steps* steps) {
    for (const std::unique_ptr<Step>& step : *steps) Survey(*step);
    Replace(steps);
  }

 private:
  struct Facts {
    bool scalar = false;  // can be part of a scalar program
    int32_t begin = 0;    // the first position in it
    int steps = 1;        // that it stands for, nested ones included
    int64_t size = 0;     // about how many instructions it takes
  };

  // Fills facts_ for a step and all in it, innermost first, so that a region's steps are surveyed
  // once however deep it is nested.
  Facts Survey(const Step& step) {
    Facts facts;
    facts.begin = builder_.PositionOf(step);
    const std::vector<const Steps*> regions = step.nested();
    if (regions.empty()) {
      ScalarAssembler assembler(kernels_, describe_anything_);
      facts.scalar = step.EmitScalar(&assembler) && assembler.EndSurvey();
      facts.size = assembler.survey_size();
    } else {
      facts.scalar = true;
      for (const Steps* region : regions) {
        for (const std::unique_ptr<Step>& inner : *region) {
          const Facts f = Survey(*inner);
          facts.scalar = facts.scalar && f.scalar;
          facts.begin = std::min(facts.begin, f.begin);
          facts.steps += f.steps;
          facts.size += f.size;
        }
      }
      facts.scalar = facts.scalar && facts.size <= kMaxSize;
    }
    facts_[&step] = facts;
    return facts;
  }

  void Replace(Steps* steps) {
    Steps kept;
    for (size_t i = 0; i < steps->size();) {
      size_t end = i;
      int64_t size = 0;
      double cost = 0;
      int count = 0;
      for (; end < steps->size(); ++end) {
        const Facts& facts = facts_.at((*steps)[end].get());
        if (!facts.scalar || size + facts.size > kMaxSize) break;
        size += facts.size;
        count += facts.steps;
        cost += (*steps)[end]->cost_ns();
      }
      std::unique_ptr<Step> scalar;
      if (cost >= kWorthNs)
        scalar = Compile(absl::MakeSpan(*steps).subspan(i, end - i), count, cost);
      if (scalar != nullptr) {
        kept.push_back(std::move(scalar));
        i = end;
        continue;
      }
      // As they are, with what can be done inside of them.
      for (end = std::max(end, i + 1); i < end; ++i) {
        (*steps)[i]->RewriteRegions([this](Steps* region) { Replace(region); });
        kept.push_back(std::move((*steps)[i]));
      }
    }
    *steps = std::move(kept);
  }

  std::unique_ptr<Step> Compile(absl::Span<const std::unique_ptr<Step>> run, int count,
                                double cost) const {
    const int32_t begin = facts_.at(run.front().get()).begin;
    const int32_t end = builder_.PositionOf(*run.back());
    const auto describe = [&](BufferId id) { return Describe(id, begin, end); };
    ScalarAssembler assembler(kernels_, describe);
    for (const std::unique_ptr<Step>& step : run) {
      if (!step->EmitScalar(&assembler)) return nullptr;
    }
    if (!assembler.EndSurvey()) return nullptr;
    for (const std::unique_ptr<Step>& step : run) {
      assembler.BeginStep();
      if (!step->EmitScalar(&assembler)) return nullptr;
    }
    ScalarProgram program;
    if (!assembler.Finish(&program)) return nullptr;
    return std::make_unique<ScalarStep>(std::move(program), count, cost);
  }

  ScalarBuffer Describe(BufferId id, int32_t begin, int32_t end) const {
    const PlanBuilder::Life life = builder_.LifeOf(id);
    ScalarBuffer buffer;
    buffer.root = life.root;
    buffer.place = plan_.buffers[id];
    buffer.bytes = life.bytes;
    using Kind = BufferPlace::Kind;
    const Kind kind = buffer.place.kind;
    buffer.live_in = kind == Kind::kArgument || kind == Kind::kConstant || life.first < begin;
    buffer.live_out = kind == Kind::kResult || life.last > end;
    if (kind == Kind::kConstant) buffer.constant = plan_.constants.get() + buffer.place.offset;
    return buffer;
  }

  // Instructions of one program; longer runs are cut.
  static constexpr int64_t kMaxSize = 4096;
  // Beginning a scalar program takes some 10 ns: less than this is not worth one.
  static constexpr double kWorthNs = 30;

  const PlanBuilder& builder_;
  const BlockKernels& kernels_;
  const Plan& plan_;
  const std::function<ScalarBuffer(BufferId)> describe_anything_ = [this](BufferId id) {
    return Describe(id, 0, 0);
  };
  absl::flat_hash_map<const Step*, Facts> facts_;
};

}  // namespace

void MakeScalarRuns(const PlanBuilder& builder, const BlockKernels& kernels, const Plan& plan,
                    Steps* steps) {
  Rewriter(builder, kernels, plan).Rewrite(steps);
}

}  // namespace pjrt::cpu

// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/scalar_runs.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
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
    Replace(steps, nullptr);
  }

 private:
  struct Facts {
    bool scalar = false;  // can be part of a scalar program
    int32_t begin = 0;    // the first position in it
    int steps = 1;        // that it stands for, nested ones included
    int64_t size = 0;     // about how many instructions it takes
    double executed = 0;  // and how many of them are executed
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
      facts.executed = static_cast<double>(facts.size);
    } else {
      facts.scalar = true;
      for (const Steps* region : regions) {
        for (const std::unique_ptr<Step>& inner : *region) {
          const Facts f = Survey(*inner);
          facts.scalar = facts.scalar && f.scalar;
          facts.begin = std::min(facts.begin, f.begin);
          facts.steps += f.steps;
          facts.size += f.size;
          facts.executed += f.executed * step.nested_runs();
        }
      }
      facts.scalar = facts.scalar && facts.size <= kMaxSize;
    }
    facts_[&step] = facts;
    return facts;
  }

  // Rewrites steps. True when they do what `next` does as well, which runs behind them each time:
  // null for nothing.
  bool Replace(Steps* steps, const Steps* next) {
    bool does_next = false;
    Steps kept;
    for (size_t i = 0; i < steps->size();) {
      std::vector<const Step*> run;
      Totals totals;
      while (i + run.size() < steps->size() &&
             Extend((*steps)[i + run.size()].get(), &run, &totals))
        continue;
      const size_t end = i + run.size();
      // What is behind the last run comes along, when all of it can.
      if (end == steps->size() && next != nullptr && !run.empty()) {
        std::vector<const Step*> longer = run;
        Totals longer_totals = totals;
        does_next = std::all_of(next->begin(), next->end(), [&](const auto& step) {
          return Extend(step.get(), &longer, &longer_totals);
        });
        std::optional<std::unique_ptr<Step>> scalar;
        if (does_next && longer_totals.cost >= kWorthNs)
          scalar = Compile(longer, run.size(), longer_totals);
        does_next = scalar.has_value();
        if (does_next) {
          if (*scalar != nullptr) kept.push_back(*std::move(scalar));
          break;
        }
      }
      if (totals.cost >= kWorthNs) {
        if (auto scalar = Compile(run, run.size(), totals)) {
          if (*scalar != nullptr) kept.push_back(*std::move(scalar));
          i = end;
          continue;
        }
      }
      // As they are, with what can be done inside of them.
      for (const size_t stop = std::max(end, i + 1); i < stop; ++i) {
        (*steps)[i]->RewriteRegions(
            [this](Steps* region, const Steps* behind) { return Replace(region, behind); });
        kept.push_back(std::move((*steps)[i]));
      }
    }
    *steps = std::move(kept);
    return does_next;
  }

  // Of a run of steps.
  struct Totals {
    int64_t size = 0;
    double executed = 0;
    double cost = 0;  // of the steps as they are
    int steps = 0;    // nested ones included
  };

  // Adds a step to a run, if that is possible.
  bool Extend(const Step* step, std::vector<const Step*>* run, Totals* totals) const {
    const Facts& facts = facts_.at(step);
    if (!facts.scalar || totals->size + facts.size > kMaxSize) return false;
    run->push_back(step);
    totals->size += facts.size;
    totals->executed += facts.executed;
    totals->cost += step->cost_ns();
    totals->steps += facts.steps;
    return true;
  }

  // A step that does what `run` does; null when that is nothing, nullopt where there is none. Only
  // the first `together` steps follow each other in the plan's order, too.
  std::optional<std::unique_ptr<Step>> Compile(const std::vector<const Step*>& run, size_t together,
                                               const Totals& totals) const {
    const int32_t begin = facts_.at(run.front()).begin;
    const int32_t end = builder_.PositionOf(*run[together - 1]);
    const bool apart = together < run.size();
    const int32_t next_begin = apart ? facts_.at(run[together]).begin : 0;
    const int32_t next_end = apart ? builder_.PositionOf(*run.back()) : -1;
    const auto describe = [&](BufferId id) {
      const int32_t first = builder_.LifeOf(id).first;
      return first >= next_begin && first <= next_end ? Describe(id, next_begin, next_end)
                                                      : Describe(id, begin, end);
    };
    ScalarAssembler assembler(kernels_, describe);
    for (const Step* step : run) {
      if (!step->EmitScalar(&assembler)) return std::nullopt;
    }
    if (!assembler.EndSurvey()) return std::nullopt;
    for (const Step* step : run) {
      assembler.BeginStep();
      if (!step->EmitScalar(&assembler)) return std::nullopt;
    }
    ScalarProgram program;
    if (!assembler.Finish(&program)) return std::nullopt;
    if (program.code.size() == 1 && program.stores.empty()) return nullptr;
    // Of the instructions surveyed, so many are left.
    const double left = static_cast<double>(program.code.size()) / static_cast<double>(totals.size);
    const double cost_ns = kBeginNs + kInstrNs * left * totals.executed;
    return std::make_unique<ScalarStep>(std::move(program), totals.steps, cost_ns);
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
  static constexpr double kBeginNs = 10, kWorthNs = 30;
  // What an instruction takes on a 3 GHz x86-64 in the middle: chains of dependent ones more.
  static constexpr double kInstrNs = 1;

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

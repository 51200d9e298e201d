// SPDX-License-Identifier: Apache-2.0
//
// A compiled program with its inputs on the device, ready to be executed again and again.
#ifndef PJRT_BENCH_PROGRAM_H_
#define PJRT_BENCH_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "benchmark/benchmark.h"
#include "pjrt/buffer.h"
#include "pjrt/client.h"
#include "pjrt/executable.h"

namespace pjrt::bench {

// A CPU client with that many threads, made once a process; it ends the process when there is none.
PjRtClient& Client(int threads);

class Program {
 public:
  // Compiles `text` for a client with `threads` threads. Arguments are filled with small numbers of
  // their types; sizes that the program leaves open are 1. A program that does not compile or run
  // ends the process with a message.
  Program(absl::string_view text, int threads);

  // Makes one more set of arguments, with `size` for the sizes that the program leaves open.
  // Executions take the sets in turn.
  void AddArguments(int64_t size);

  // Dispatches one execution and drops its results.
  void Execute();
  // Executes and waits until the results are there.
  void ExecuteAndWait();

 private:
  std::unique_ptr<PjRtLoadedExecutable> executable_;
  std::vector<std::unique_ptr<PjRtBuffer>> inputs_;
  std::vector<PjRtBuffer*>& NextArguments();

  PjRtMemorySpace* memory_;
  std::vector<std::vector<PjRtBuffer*>> arguments_;
  size_t turn_ = 0;
};

// Executes `program` as long as `state` asks, waiting for each result. Returns the seconds that one
// execution took.
double Repeat(benchmark::State& state, Program& program);

// Measures `text` with state.range(0) threads and reports of_bandwidth: the `bytes` that it must
// read and write at least, a second, in the quickest execution, over those of memcpy by as many
// threads.
void MeasureOfBandwidth(benchmark::State& state, absl::string_view text, int64_t bytes);

// Arguments of benchmarks. OverThreads sets state.range(0), threads: one, and as many as there are
// cores. OverThreadsAndSizes sets state.range(1) as well, MiB: an array that stays in the last
// cache and one that does not. Both measure real time and report microseconds.
void OverThreads(benchmark::internal::Benchmark* b);
void OverThreadsAndSizes(benchmark::internal::Benchmark* b);

// StableHLO text of programs that several benchmarks use.
std::string AxpyText(int64_t n);  // a * x + y on f32
std::string AnyAxpyText();        // the same for any n
// x * y + y on one element, with an index of the platform, which chooses the operation, or which
// nothing reads.
std::string PlatformsAxpyText();
std::string UnreadIndexAxpyText();
// An m x k matrix, or the transpose of one in memory, by a k x n one.
std::string MatmulText(int64_t m, int64_t n, int64_t k, absl::string_view element,
                       bool a_is_transposed = false);
std::string MlpText();  // 784-512-512-10 on 128 rows, relu and softmax

}  // namespace pjrt::bench

#endif  // PJRT_BENCH_PROGRAM_H_

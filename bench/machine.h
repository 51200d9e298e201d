// SPDX-License-Identifier: Apache-2.0
//
// What the machine can do at most, measured in the same run as the benchmarks: the yardstick for
// their ratios.
#ifndef PJRT_BENCH_MACHINE_H_
#define PJRT_BENCH_MACHINE_H_

namespace pjrt::bench {

// Seconds on the clock that measures work on so many threads: the process's own time for one, which
// other work on the machine does not lengthen; the wall's for more.
double Now(int threads);

// Bytes a second, read and written together, that `threads` threads move with memcpy when each has
// its share of two arrays of `bytes` bytes in all. Small sizes measure the caches. Measured once
// for each pair of arguments.
double CopyBandwidth(int threads, long long bytes);

// Multiplications and additions a second (a fused one counts as two) of f32 that `threads` threads
// reach in registers, with the widest vectors that the machine has. Measured once for each
// argument.
double MultiplyAddPeak(int threads);

// The number of hardware threads.
int Cores();

}  // namespace pjrt::bench

#endif  // PJRT_BENCH_MACHINE_H_

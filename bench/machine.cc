// SPDX-License-Identifier: Apache-2.0
#include "bench/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pjrt::bench {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

// Memory as the CPU client gets its own: large arrays lie in huge pages, all of them touched.
struct Free {
  void operator()(char* data) const { std::free(data); }
};
using Array = std::unique_ptr<char[], Free>;
Array Touched(long long bytes, int value) {
  const size_t size = (static_cast<size_t>(bytes) + kHugePage - 1) / kHugePage * kHugePage;
  Array array(static_cast<char*>(std::aligned_alloc(kHugePage, size)));
  if (array == nullptr) std::exit(1);
  madvise(array.get(), size, MADV_HUGEPAGE);
  std::memset(array.get(), value, size);
  return array;
}

// Runs fn(t) on `threads` threads at the same time, the caller's among them; returns the seconds
// from their common start to the end of the last.
double OnThreads(int threads, const std::function<void(int)>& fn) {
  std::atomic<int> waiting{threads};
  const auto meet = [&] {
    waiting.fetch_sub(1);
    while (waiting.load() > 0) std::this_thread::yield();
  };
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t) {
    others.emplace_back([&, t] {
      meet();
      fn(t);
    });
  }
  meet();
  const double start = Now(threads);
  fn(0);
  for (std::thread& other : others) other.join();
  return Now(threads) - start;
}

// Each of these does `rounds` rounds of kChains independent multiply-adds and returns something
// that depends on all. The sums are variables with names, since an array would stay in memory, and
// begin with different values, since equal ones would become one.
constexpr int kChains = 12;
#define PJRT_EACH_CHAIN(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

#if defined(__x86_64__)
__attribute__((target("avx512f"))) float Chains512(long long rounds) {
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
#define PJRT_X(c) __m512 sum##c = _mm512_set1_ps(c);
  PJRT_EACH_CHAIN(PJRT_X)
#undef PJRT_X
  for (long long i = 0; i < rounds; ++i) {
#define PJRT_X(c) sum##c = _mm512_fmadd_ps(sum##c, a, b);
    PJRT_EACH_CHAIN(PJRT_X)
#undef PJRT_X
  }
  __m512 total = _mm512_setzero_ps();
#define PJRT_X(c) total = _mm512_add_ps(total, sum##c);
  PJRT_EACH_CHAIN(PJRT_X)
#undef PJRT_X
  return _mm512_cvtss_f32(total);
}

__attribute__((target("avx2,fma"))) float Chains256(long long rounds) {
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
#define PJRT_X(c) __m256 sum##c = _mm256_set1_ps(c);
  PJRT_EACH_CHAIN(PJRT_X)
#undef PJRT_X
  for (long long i = 0; i < rounds; ++i) {
#define PJRT_X(c) sum##c = _mm256_fmadd_ps(sum##c, a, b);
    PJRT_EACH_CHAIN(PJRT_X)
#undef PJRT_X
  }
  __m256 total = _mm256_setzero_ps();
#define PJRT_X(c) total = _mm256_add_ps(total, sum##c);
  PJRT_EACH_CHAIN(PJRT_X)
#undef PJRT_X
  return _mm256_cvtss_f32(total);
}
#endif

float ChainsPlain(long long rounds) {
  float sums[4 * kChains];
  for (float& sum : sums) sum = 1;
  for (long long i = 0; i < rounds; ++i) {
    for (float& sum : sums) sum = sum * 0.999f + 0.001f;
  }
  float total = 0;
  for (float sum : sums) total += sum;
  return total;
}

std::pair<float (*)(long long), int> WidestChains() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {Chains512, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {Chains256, 8};
#endif
  return {ChainsPlain, 4};
}

double MeasureCopy(int threads, long long bytes) {
  const long long share = std::max<long long>(bytes / threads, 64);
  std::vector<Array> from(threads), to(threads);
  for (int t = 0; t < threads; ++t) {
    from[t] = Touched(share, 1);
    to[t] = Touched(share, 2);
  }
  const long long rounds = std::max<long long>((64LL << 20) / share, 1);
  double best = 0;
  for (int attempt = 0; attempt < 7; ++attempt) {
    const double seconds = OnThreads(threads, [&](int t) {
      for (long long r = 0; r < rounds; ++r) {
        std::memcpy(to[t].get(), from[t].get(), share);
        // The compiler must not drop a copy that nobody reads.
        asm volatile("" : : "r"(to[t].get()) : "memory");
      }
    });
    best = std::max(
        best, 2.0 * static_cast<double>(share) * static_cast<double>(rounds) * threads / seconds);
  }
  return best;
}

double MeasurePeak(int threads) {
  const auto [chains, lanes] = WidestChains();
  constexpr long long kRounds = 4000000;
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::vector<float> sink(threads);
    const double seconds = OnThreads(threads, [&, fn = chains](int t) { sink[t] = fn(kRounds); });
    asm volatile("" : : "r"(sink.data()) : "memory");
    best = std::max(best, 2.0 * lanes * kChains * kRounds * threads / seconds);
  }
  return best;
}

}  // namespace

double Now(int threads) {
  timespec time;
  clock_gettime(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double CopyBandwidth(int threads, long long bytes) {
  static std::map<std::pair<int, long long>, double>& known =
      *new std::map<std::pair<int, long long>, double>;
  double& value = known[{threads, bytes}];
  if (value == 0) value = MeasureCopy(threads, bytes);
  return value;
}

double MultiplyAddPeak(int threads) {
  static std::map<int, double>& known = *new std::map<int, double>;
  double& value = known[threads];
  if (value == 0) value = MeasurePeak(threads);
  return value;
}

int Cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace pjrt::bench

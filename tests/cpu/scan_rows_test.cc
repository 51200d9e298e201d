// SPDX-License-Identifier: Apache-2.0
//
// The kernels of running sums, at each level of this machine.
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/kernels/window.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

template <typename T>
T Combine(Monoid monoid, T a, T b) {
  switch (monoid) {
    case Monoid::kAdd:
      if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
      } else {
        return a + b;
      }
    case Monoid::kMultiply:
      return a * b;
    case Monoid::kMaximum:
      return a != a ? a : b != b ? b : a > b ? a : b;
    default:
      return a != a ? a : b != b ? b : a < b ? a : b;
  }
}

// Whether `out` has the lines of n elements that stand `stride` apart in `expected`, and `between`
// after each.
template <typename T>
bool HasLines(const std::vector<T>& out, T between, const std::vector<T>& expected, int64_t lines,
              int64_t stride, int64_t n) {
  for (int64_t l = 0; l < lines; ++l) {
    if (std::memcmp(&out[l * (n + 1)], &expected[l * stride], n * sizeof(T)) != 0 ||
        out[l * (n + 1) + n] != between)
      return false;
  }
  return true;
}

// Lines of n elements, `stride` apart, to other places and in place; what is between them stays.
template <typename T>
void Check(CType type, const std::vector<T>& pattern) {
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    for (Monoid monoid : {Monoid::kAdd, Monoid::kMaximum, Monoid::kMinimum}) {
      const ScanRowsFn scan =
          level->window->scan_rows[static_cast<int>(monoid)][static_cast<int>(type)];
      ASSERT_NE(scan, nullptr);
      for (int64_t lines : {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 33}) {
        for (int64_t n : {0, 1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 50}) {
          for (bool is_reverse : {false, true}) {
            const int64_t stride = n + 3;
            std::vector<T> in(lines * stride + 1), expected, starts(lines + 1), running;
            for (size_t i = 0; i < in.size(); ++i) in[i] = pattern[(i * 7 + n) % pattern.size()];
            for (size_t i = 0; i < starts.size(); ++i) starts[i] = pattern[(i + 3) % 5];
            expected = in;
            running = starts;
            for (int64_t l = 0; l < lines; ++l) {
              for (int64_t k = 0; k < n; ++k) {
                const int64_t at = l * stride + (is_reverse ? n - 1 - k : k);
                expected[at] = running[l] = Combine(monoid, running[l], in[at]);
              }
            }
            const std::string what =
                absl::StrCat(level->name, " type ", static_cast<int>(type), " monoid ",
                             static_cast<int>(monoid), ", ", lines, " lines of ", n);
            std::vector<T> out(lines * (n + 1) + 1, T{1}), values = starts;
            scan(out.data(), n + 1, in.data(), stride, values.data(), lines, n, is_reverse,
                 /*stream=*/nullptr);
            EXPECT_TRUE(HasLines<T>(out, T{1}, expected, lines, stride, n)) << what;
            EXPECT_EQ(std::memcmp(values.data(), running.data(), values.size() * sizeof(T)), 0)
                << what;
            values = starts;
            scan(in.data(), stride, in.data(), stride, values.data(), lines, n, is_reverse,
                 /*stream=*/nullptr);
            EXPECT_EQ(std::memcmp(in.data(), expected.data(), in.size() * sizeof(T)), 0)
                << what << " in place";
          }
        }
      }
    }
  }
}

// Floats of 16 bits, by their bits: as if each was converted, folded in f32, and rounded before the
// next one.
void CheckNarrow(PrimitiveType type, const std::vector<uint16_t>& pattern) {
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    const ConvertFn load = level->block->load[type], store = level->block->store[type];
    for (Monoid monoid : {Monoid::kAdd, Monoid::kMultiply, Monoid::kMaximum, Monoid::kMinimum}) {
      const ScanRowsFn scan =
          (type == BF16 ? level->window->scan_bf16_rows
                        : level->window->scan_f16_rows)[static_cast<int>(monoid)];
      if (scan == nullptr) {
        EXPECT_EQ(type, F16) << level->name;
        continue;
      }
      for (int64_t lines : {0, 1, 3, 4, 8, 15, 16, 17, 33, 64, 97}) {
        for (int64_t n : {0, 1, 2, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 46, 63, 64, 99}) {
          for (bool is_reverse : {false, true}) {
            const int64_t stride = n + 3;
            std::vector<uint16_t> in(lines * stride + 1), expected;
            std::vector<float> wide(in.size()), starts(lines + 1), running;
            for (size_t i = 0; i < in.size(); ++i) in[i] = pattern[(i * 7 + n) % pattern.size()];
            for (size_t i = 0; i < starts.size(); ++i) load(&starts[i], &pattern[i % 3], 1);
            expected = in;
            running = starts;
            load(wide.data(), in.data(), static_cast<int64_t>(in.size()));
            for (int64_t l = 0; l < lines; ++l) {
              for (int64_t k = 0; k < n; ++k) {
                const int64_t at = l * stride + (is_reverse ? n - 1 - k : k);
                running[l] = Combine(monoid, running[l], wide[at]);
                store(&expected[at], &running[l], 1);
                load(&running[l], &expected[at], 1);
              }
            }
            const std::string what = absl::StrCat(level->name, " monoid ", static_cast<int>(monoid),
                                                  ", ", lines, " lines of ", n, " ", is_reverse);
            std::vector<uint16_t> out(lines * (n + 1) + 1, 1);
            std::vector<float> values = starts;
            scan(out.data(), n + 1, in.data(), stride, values.data(), lines, n, is_reverse,
                 /*stream=*/nullptr);
            EXPECT_TRUE(HasLines<uint16_t>(out, 1, expected, lines, stride, n)) << what;
            for (int64_t l = 0; l < lines; ++l)
              EXPECT_TRUE(SameValue(values[l], running[l])) << what << " line " << l;
            values = starts;
            scan(in.data(), stride, in.data(), stride, values.data(), lines, n, is_reverse,
                 /*stream=*/nullptr);
            EXPECT_EQ(in, expected) << what << " in place";
          }
        }
      }
    }
  }
}

// One operation on each of two floats of 16 bits.
TEST(ScanRowsTest, NarrowFloatsAreFoldedElementByElement) {
  for (PrimitiveType type : {BF16, F16}) {
    std::vector<uint16_t> a, b;
    for (uint32_t i = 0; i < 70; ++i) {
      a.push_back(static_cast<uint16_t>(i * 0x0a61));
      b.push_back(static_cast<uint16_t>(0xffff - i * 0x0de3));
    }
    for (const Kernels* level : AllKernels()) {
      if (!level->supported()) continue;
      const ConvertFn load = level->block->load[type], store = level->block->store[type];
      for (Monoid monoid : {Monoid::kAdd, Monoid::kMultiply, Monoid::kMaximum, Monoid::kMinimum}) {
        const BlockFn fold = (type == BF16 ? level->window->fold_bf16
                                           : level->window->fold_f16)[static_cast<int>(monoid)];
        if (fold == nullptr) {
          EXPECT_EQ(type, F16) << level->name;
          continue;
        }
        for (size_t n = 0; n <= a.size(); ++n) {
          std::vector<uint16_t> out(n + 1, 1), expected(n + 1, 1);
          for (size_t i = 0; i < n; ++i) {
            float x, y;
            load(&x, &a[i], 1);
            load(&y, &b[i], 1);
            const float folded = Combine(monoid, x, y);
            store(&expected[i], &folded, 1);
          }
          fold(out.data(), a.data(), b.data(), nullptr, static_cast<int64_t>(n));
          for (size_t i = 0; i <= n; ++i) {
            float x, y;
            load(&x, &out[i], 1);
            load(&y, &expected[i], 1);
            EXPECT_TRUE(SameValue(x, y)) << level->name << " monoid " << static_cast<int>(monoid)
                                         << " element " << i << " of " << n;
          }
        }
      }
    }
  }
}

TEST(ScanRowsTest, NarrowFloatsAreRoundedAfterEachOperation) {
  // 1, a few small numbers of either sign, denormals, zero; infinity; a NaN, also a signalling
  // one.
  CheckNarrow(BF16, {0x3f80, 0x3b81, 0xbb03, 0x3dcd, 0x0001, 0x8003, 0x0000, 0x3eab});
  CheckNarrow(BF16, {0x3f80, 0xbf90, 0x4000, 0x7f70, 0x7f80});
  CheckNarrow(BF16, {0x3f80, 0x3b81, 0xbb03, 0x3f80, 0x3b81, 0xbb03, 0x3f80, 0x3eab, 0x7fc1});
  CheckNarrow(BF16, {0x3f80, 0x3b81, 0xbb03, 0x3f80, 0x3b81, 0xbb03, 0x3f80, 0x3eab, 0xff81});
  CheckNarrow(F16, {0x3c00, 0x1081, 0x9103, 0x2ccd, 0x0001, 0x8003, 0x0000, 0x32ab});
  CheckNarrow(F16, {0x3c00, 0xbc10, 0x4000, 0x7bf0, 0x7c00});
  CheckNarrow(F16, {0x3c00, 0x1081, 0x9103, 0x3c00, 0x1081, 0x9103, 0x3c00, 0x32ab, 0x7e01});
  CheckNarrow(F16, {0x3c00, 0x1081, 0x9103, 0x3c00, 0x1081, 0x9103, 0x3c00, 0x32ab, 0xfc01});
}

TEST(ScanRowsTest, FloatsAreFoldedOneAfterTheOther) {
  const float inf = std::numeric_limits<float>::infinity();
  Check<float>(CType::kF32, {0.1f, -3.7f, 1e8f, 2.5e-7f, 1.0f / 3, -1e8f, 17});
  Check<float>(CType::kF32, {1, inf, 2, -5, 3, 8});
  Check<double>(CType::kF64, {0.1, -3.7, 1e17, 2.5e-17, 1.0 / 3, -1e17, 17});
}

TEST(ScanRowsTest, IntegersWrapAround) {
  Check<int32_t>(CType::kS32, {2000000000, -7, 5, 2147483647, -2147483647 - 1, 12});
  Check<uint32_t>(CType::kU32, {4000000000u, 7, 5, 2147483648u, 0, 12});
  Check<int64_t>(CType::kS64, {INT64_MAX, -7, 5, INT64_MIN, 1, 12});
  Check<uint64_t>(CType::kU64, {UINT64_MAX, 7, 5, uint64_t{1} << 63, 0, 12});
}

// Lines that are whole cache lines, to other places and in place.
TEST(ScanRowsTest, LinesThatAreWrittenPastTheCachesAreTheSame) {
  for (const Kernels* level : AllKernels()) {
    if (!level->supported() || !level->window->scans_stream) continue;
    const ScanRowsFn scan =
        level->window->scan_rows[static_cast<int>(Monoid::kAdd)][static_cast<int>(CType::kS32)];
    const ScanRowsFn narrow = level->window->scan_bf16_rows[static_cast<int>(Monoid::kAdd)];
    for (const int64_t lines : {1, 15, 16, 17, 31, 32, 33, 70}) {
      for (const int64_t n : {32, 64, 160}) {
        for (const bool is_reverse : {false, true}) {
          const int64_t stride = n + 32;
          std::vector<int32_t> memory[2];
          int32_t* result[2];
          for (const bool streams : {false, true}) {
            std::vector<int32_t>& in = memory[streams];
            in.resize(lines * stride + 16);
            const int64_t address = reinterpret_cast<intptr_t>(in.data());
            int32_t* const at = result[streams] = in.data() + (AlignUp(address) - address) / 4;
            for (int64_t k = 0; k < lines * stride; ++k)
              at[k] = 0x3f803f80 + static_cast<int32_t>(k % 64);
            std::vector<int32_t> running(lines, 1);
            ScanStream stream;
            stream.results = streams;
            scan(at, stride, at, stride, running.data(), lines, n, is_reverse, &stream);
            std::vector<float> sums(lines, 1);
            narrow(at, 2 * stride, at, 2 * stride, sums.data(), lines, n, is_reverse, &stream);
            level->block->end_stream();
          }
          EXPECT_EQ(std::memcmp(result[0], result[1], lines * stride * 4), 0)
              << level->name << " " << lines << " lines of " << n << (is_reverse ? ", back" : "");
        }
      }
    }
  }
}

// What a scan writes beside its results: whole cache lines, of which it tells how far it came.
TEST(ScanRowsTest, LinesThatAreWrittenBesideAScanAreThoseGiven) {
  for (const Kernels* level : AllKernels()) {
    if (!level->supported()) continue;
    constexpr int kAdd = static_cast<int>(Monoid::kAdd);
    const ScanRowsFn scans[] = {level->window->scan_rows[kAdd][static_cast<int>(CType::kF32)],
                                level->window->scan_rows[kAdd][static_cast<int>(CType::kF64)],
                                level->window->scan_bf16_rows[kAdd]};
    for (const int64_t lines : {1, 16, 64, 80}) {
      for (const int64_t bytes : {0, 64, 4096, 100000}) {
        for (const ScanRowsFn scan : scans) {
          constexpr int64_t kElements = 100;
          std::vector<double> in(lines * kElements, 1), out(in.size()), running(lines, 0);
          std::vector<char> from(bytes + 64), memory(bytes + 128, 'x');
          for (int64_t i = 0; i < bytes; ++i) from[i] = static_cast<char>(i * 7 % 101);
          const int64_t address = reinterpret_cast<intptr_t>(memory.data());
          char* const to = memory.data() + AlignUp(address) - address;
          ScanStream stream;
          stream.to = to;
          stream.from = stream.next = from.data();
          stream.bytes = bytes;
          scan(out.data(), kElements, in.data(), kElements, running.data(), lines, kElements, false,
               &stream);
          level->block->end_stream();
          const int64_t written = stream.to - to;
          EXPECT_EQ(written % 64, 0);
          EXPECT_EQ(stream.from - from.data(), written);
          EXPECT_EQ(stream.next - from.data(), written);
          EXPECT_EQ(stream.bytes, bytes - written);
          EXPECT_EQ(std::memcmp(to, from.data(), written), 0) << level->name;
          EXPECT_EQ(*stream.to, 'x') << level->name;
          EXPECT_EQ(written > 0, lines >= 16 && bytes > 0) << level->name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu

// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/kernel_level.h"

#include <cstdint>

#include "absl/strings/str_join.h"
#include "pjrt/base/primitive_type.h"
#include "src/core/base/error.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/level_tables.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace pjrt::cpu {

static_assert(kNumMemoryTypes == kPrimitiveTypeLimit, "block_ops.h must know all element types");

namespace {

#if defined(__x86_64__)

// What CPUID says, and which registers the operating system saves: a processor's wide instructions
// fault unless it does.
struct Processor {
  uint32_t features_1c = 0, features_7b = 0, features_extended_c = 0;
  uint64_t saved_state = 0;

  Processor() {
    uint32_t a, b, c, d;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0) features_1c = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) features_7b = b;
    if (__get_cpuid(0x80000001u, &a, &b, &c, &d) != 0) features_extended_c = c;
    if ((features_1c & bit_OSXSAVE) != 0) {
      uint32_t low, high;
      __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      saved_state = (static_cast<uint64_t>(high) << 32) | low;
    }
  }
};

bool Has(uint64_t bits, uint64_t wanted) { return (bits & wanted) == wanted; }

// A build may lack any of the levels.
[[maybe_unused]] bool HasBaseline() { return true; }

[[maybe_unused]] bool HasAvx2() {
  const Processor p;
  return Has(p.saved_state, 0x6) &&  // SSE and AVX registers
         Has(p.features_1c, bit_AVX | bit_FMA | bit_F16C) &&
         Has(p.features_7b, bit_AVX2 | bit_BMI | bit_BMI2) && Has(p.features_extended_c, bit_LZCNT);
}

[[maybe_unused]] bool HasAvx512() {
  const Processor p;
  return HasAvx2() && Has(p.saved_state, 0xe6) &&  // mask and 512-bit registers too
         Has(p.features_7b,
             bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL | bit_AVX512CD);
}

#else

[[maybe_unused]] bool HasBaseline() { return true; }
[[maybe_unused]] bool HasNeon() { return true; }

#endif

std::vector<Kernels> MakeLevels() {
  std::vector<Kernels> levels;
  // A table is built by code of its level.
#define PJRT_ADD_LEVEL_(level, required, supported)                                        \
  if (const bool has = supported(); true)                                                  \
  levels.push_back(                                                                        \
      {#level, required, supported, has ? level::GetBlockKernels() : nullptr,              \
       has ? level::GetGemmKernels() : nullptr, has ? level::GetWindowKernels() : nullptr, \
       has ? level::GetFftKernels() : nullptr, has ? level::GetLinalgKernels() : nullptr,  \
       has ? level::GetIndexKernels() : nullptr, has ? level::GetFoldKernels() : nullptr,  \
       has ? level::GetRandomKernels() : nullptr})
#if defined(PJRT_HAVE_LEVEL_BASELINE)
  PJRT_ADD_LEVEL_(baseline, "nothing beyond the compiler's target", HasBaseline);
#endif
#if defined(PJRT_HAVE_LEVEL_AVX2)
  PJRT_ADD_LEVEL_(avx2, "AVX2, FMA, F16C, BMI1, BMI2, LZCNT", HasAvx2);
#endif
#if defined(PJRT_HAVE_LEVEL_AVX512)
  PJRT_ADD_LEVEL_(avx512, "AVX2, FMA, F16C, BMI1, BMI2, LZCNT, AVX-512 F, BW, DQ, VL, CD",
                  HasAvx512);
#endif
#if defined(PJRT_HAVE_LEVEL_NEON)
  PJRT_ADD_LEVEL_(neon, "NEON", HasNeon);
#endif
#undef PJRT_ADD_LEVEL_
  return levels;
}

}  // namespace

const std::vector<const Kernels*>& AllKernels() {
  static const auto* const levels = new const std::vector<Kernels>(MakeLevels());
  static const auto* const pointers = [] {
    auto* result = new std::vector<const Kernels*>();
    for (const Kernels& level : *levels) result->push_back(&level);
    return result;
  }();
  return *pointers;
}

absl::StatusOr<const Kernels*> ChooseKernels(absl::string_view name) {
  const std::vector<const Kernels*>& all = AllKernels();
  if (name.empty()) {
    const Kernels* widest = all.front();
    for (const Kernels* level : all) {
      if (level->supported()) widest = level;
    }
    return widest;
  }
  for (const Kernels* level : all) {
    if (name != level->name) continue;
    if (level->supported()) return level;
    return InvalidArgument(
        "PJRT-C002", "kernel level \"", name, "\" needs ", level->required,
        ", which this machine does not have or its operating system does not enable");
  }
  const auto append_name = [](std::string* out, const Kernels* level) { out->append(level->name); };
  return InvalidArgument("PJRT-C001", "kernel level \"", name, "\" is not compiled in; there are ",
                         absl::StrJoin(all, ", ", append_name));
}

CType ComputeTypeOf(PrimitiveType type) {
  switch (type) {
    case S1:
    case S2:
    case S4:
    case S8:
      return CType::kS8;
    case U1:
    case U2:
    case U4:
    case U8:
      return CType::kU8;
    case S16:
      return CType::kS16;
    case U16:
      return CType::kU16;
    case S32:
      return CType::kS32;
    case U32:
      return CType::kU32;
    case S64:
      return CType::kS64;
    case U64:
      return CType::kU64;
    case F64:
      return CType::kF64;
    case C64:
      return CType::kC64;
    case C128:
      return CType::kC128;
    case PRED:
      return CType::kPred;
    default:
      return GetPrimitiveTypeInfo(type).kind == PrimitiveKind::kFloat ? CType::kF32 : CType::kPred;
  }
}

}  // namespace pjrt::cpu

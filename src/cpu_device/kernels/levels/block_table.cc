// SPDX-License-Identifier: Apache-2.0
//
// The level's table, put together from what each source of this folder contributes.
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/level_tables.h"

#define PJRT_STRINGIZE_(x) #x
#define PJRT_STRINGIZE(x) PJRT_STRINGIZE_(x)

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

BlockKernels MakeTable() {
  BlockKernels table = {};
  table.level = PJRT_STRINGIZE(PJRT_KERNEL_LEVEL);
  FillMove(&table);
  FillStreamTranspose(&table);
  FillTranspose(&table);
  FillTurn(&table);
  FillChain(&table);
  FillIntegers(&table);
  FillFloats(&table);
  FillCompare(&table);
  FillSelect(&table);
  FillConvert(&table);
  FillSmallTypes(&table);
  FillLookup(&table);
  FillReduce(&table);
  FillComplex(&table);
  FillComplexMath(&table);
  FillComplexC128(&table);
  FillComplexExpC128(&table);
  FillExpF64(&table);
  FillTrigF64(&table);
  FillPiecesF64(&table);
  FillTablesF64(&table);
  FillLogsF64(&table);
  FillPowerF64(&table);
  FillAtan2F64(&table);
  FillExpF32(&table);
  FillPiecewiseF32(&table);
  FillTrigF32(&table);
  FillPowerF32(&table);
  FillNarrow(&table);
  FillNarrowBinary(&table);
  FillPack(&table);
  FillSmallBinary(&table);
  return table;
}

}  // namespace

const BlockKernels* GetBlockKernels() {
  static const BlockKernels table = MakeTable();
  return &table;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

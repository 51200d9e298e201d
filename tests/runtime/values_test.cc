// SPDX-License-Identifier: Apache-2.0
//
// Ids, device dimensions, layouts, memory statistics and execution contexts.
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "pjrt/allocator_stats.h"
#include "pjrt/compiled_memory_stats.h"
#include "pjrt/cpu/cpu_execute_context.h"
#include "pjrt/device_dimensions.h"
#include "pjrt/execute_context.h"
#include "pjrt/ids.h"
#include "pjrt/pjrt_layout.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace {

static_assert(!std::is_convertible_v<int, GlobalDeviceId>);
static_assert(!std::is_convertible_v<GlobalDeviceId, LocalDeviceId>);
static_assert(!std::is_convertible_v<GlobalDeviceId, int>);
static_assert(std::is_same_v<decltype(GlobalDeviceId().value()), int32_t>);
static_assert(std::is_same_v<decltype(CrossHostTransferKey().value()), int64_t>);
static_assert(std::is_same_v<decltype(IncarnationId().value()), uint64_t>);
static_assert(std::is_same_v<PjRtGlobalDeviceId, GlobalDeviceId>);
static_assert(std::is_same_v<std::variant_alternative_t<3, PjRtValueType>, std::vector<int64_t>>);

TEST(IdsTest, StrongIdsCompareHashAndPrintAsTheirNumbers) {
  EXPECT_EQ(GlobalDeviceId(3), GlobalDeviceId(3));
  EXPECT_NE(GlobalDeviceId(3), GlobalDeviceId(4));
  EXPECT_LT(GlobalDeviceId(-1), GlobalDeviceId());
  EXPECT_GE(ProcessId(2), ProcessId(2));
  absl::flat_hash_map<GlobalDeviceId, int> map = {{GlobalDeviceId(1), 10}, {GlobalDeviceId(2), 20}};
  EXPECT_EQ(map[GlobalDeviceId(2)], 20);
  std::ostringstream os;
  os << LocalDeviceId(-1) << " " << IncarnationId(UINT64_MAX);
  EXPECT_EQ(os.str(), "-1 18446744073709551615");
}

TEST(IdsTest, PlatformIdsAreTheFingerprintsOfTheirNames) {
  EXPECT_EQ(CpuId(), PlatformIdFromName("cpu"));
  EXPECT_EQ(CudaId(), PlatformIdFromName(CudaName()));
  EXPECT_EQ(RocmId(), PlatformIdFromName(RocmName()));
  EXPECT_EQ(OneapiId(), PlatformIdFromName(OneapiName()));
  EXPECT_EQ(TpuId(), PlatformIdFromName(TpuName()));
  EXPECT_EQ(InterpreterId(), PlatformIdFromName(InterpreterName()));
  EXPECT_EQ(SyclId(), OneapiId());
  EXPECT_EQ(SyclName(), "oneapi");
  // FNV-1a of "" and "a", from its publication.
  EXPECT_EQ(PlatformIdFromName(""), 0xcbf29ce484222325u);
  EXPECT_EQ(PlatformIdFromName("a"), 0xaf63dc4c8601ec8cu);
  const std::set<PjRtPlatformId> ids = {CpuId(),    CudaId(), RocmId(),
                                        OneapiId(), TpuId(),  InterpreterId()};
  EXPECT_EQ(ids.size(), 6u);
}

TEST(IdsTest, PredicatesKnowTheirPlatforms) {
  EXPECT_TRUE(IsCpuId(CpuId()));
  EXPECT_FALSE(IsCpuId(TpuId()));
  EXPECT_TRUE(IsGpuId(CudaId()) && IsGpuId(RocmId()) && IsGpuId(SyclId()));
  EXPECT_FALSE(IsGpuId(CpuId()));
  EXPECT_TRUE(IsTpuId(TpuId()));
  EXPECT_TRUE(IsInterpreterId(InterpreterId()));
}

TEST(IdsTest, ValuesPrintByTheirType) {
  EXPECT_EQ(ValueTypeToString(std::string("text")), "text");
  EXPECT_EQ(ValueTypeToString(true), "true");
  EXPECT_EQ(ValueTypeToString(int64_t{-5}), "-5");
  EXPECT_EQ(ValueTypeToString(std::vector<int64_t>{1, 2}), "[1,2]");
  EXPECT_EQ(ValueTypeToString(0.5f), "0.5");
}

TEST(IdsTest, ContinuousIdsCountUp) {
  const PjRtIdContainer<LocalDeviceId> ids = MakeContinuousIds<LocalDeviceId>(5, 3);
  EXPECT_EQ(ids,
            (PjRtIdContainer<LocalDeviceId>{LocalDeviceId(5), LocalDeviceId(6), LocalDeviceId(7)}));
  EXPECT_TRUE(MakeContinuousIds<GlobalDeviceId>(5, 0).empty());
  EXPECT_TRUE(MakeContinuousIds<GlobalDeviceId>(5, -3).empty());
}

TEST(IdsTest, LongDeviceListsAreShortened) {
  std::vector<int64_t> devices;
  for (int64_t i = 0; i < 10; ++i) devices.push_back(i);
  EXPECT_EQ(HumanReadableDevices(devices), "0,1,2,3,4,5,6,7,8,9");
  devices.push_back(10);
  EXPECT_EQ(HumanReadableDevices(devices), "0,1,2,3,4,5,6,7,...,9,10");
  EXPECT_EQ(HumanReadableDevices(devices, " ", 1, 0), "0 ...");
  EXPECT_EQ(HumanReadableDevices(devices, " ", 0, 1), "... 10");
  EXPECT_EQ(HumanReadableDevices(devices, " ", -1, -1), "...");
  EXPECT_EQ(HumanReadableDevices(absl::Span<const int64_t>()), "");
  const std::vector<GlobalDeviceId> global = {GlobalDeviceId(7), GlobalDeviceId(8)};
  EXPECT_EQ(HumanReadableDevices(global, "/"), "7/8");
}

TEST(DeviceDimensionsTest, BehavesAsAList) {
  const PjRtDeviceDimensions dims = {2, 3, 4};
  EXPECT_EQ(dims.size(), 3u);
  EXPECT_EQ(dims[1], 3);
  EXPECT_EQ(dims, PjRtDeviceDimensions(std::vector<int32_t>{2, 3, 4}));
  EXPECT_NE(dims, (PjRtDeviceDimensions{2, 3}));
  EXPECT_LT((PjRtDeviceDimensions{2, 3}), dims);
  EXPECT_LT(dims, (PjRtDeviceDimensions{2, 4}));
  EXPECT_TRUE(PjRtDeviceDimensions().empty());
  int sum = 0;
  for (int32_t d : dims) sum += d;
  EXPECT_EQ(sum, 9);
  EXPECT_EQ(absl::HashOf(dims), absl::HashOf(PjRtDeviceDimensions{2, 3, 4}));
}

TEST(DeviceDimensionsTest, TextRoundTrips) {
  for (const PjRtDeviceDimensions& dims :
       {PjRtDeviceDimensions{}, PjRtDeviceDimensions{7}, PjRtDeviceDimensions{-1, 0, INT32_MAX}}) {
    EXPECT_EQ(*PjRtDeviceDimensions::FromString(dims.ToString()), dims);
    EXPECT_EQ(*PjRtDeviceDimensions::Deserialize(dims.Serialize()), dims);
    PjRtDeviceDimensions flag;
    std::string error;
    EXPECT_TRUE(AbslParseFlag(AbslUnparseFlag(dims), &flag, &error));
    EXPECT_EQ(flag, dims);
  }
  EXPECT_EQ((PjRtDeviceDimensions{2, 3}.ToString("x")), "2x3");
  EXPECT_EQ(*PjRtDeviceDimensions::FromString(" 2 , 3 "), (PjRtDeviceDimensions{2, 3}));
}

TEST(DeviceDimensionsTest, MalformedTextIsRejected) {
  for (const char* text : {",", "1,", ",1", "1,,2", "a", "1;2", "2147483648", "1.5"}) {
    const absl::Status status = PjRtDeviceDimensions::FromString(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(ErrorId(status), "PJRT-R001") << status;
  }
  PjRtDeviceDimensions flag;
  std::string error;
  EXPECT_FALSE(AbslParseFlag("x", &flag, &error));
  EXPECT_NE(error.find("'x'"), std::string::npos);
}

TEST(PjRtLayoutTest, MemorySpaceIsAlwaysTheDefault) {
  Layout layout = MakeDescendingLayout(2);
  layout.set_memory_space(kHostMemorySpace);
  const PjRtLayout wrapped(layout);
  EXPECT_EQ(wrapped.layout().memory_space(), kDefaultMemorySpace);
  EXPECT_EQ(wrapped.xla_layout(), MakeDescendingLayout(2));
  EXPECT_EQ(wrapped, PjRtLayout(MakeDescendingLayout(2)));
  EXPECT_NE(wrapped, PjRtLayout(MakeAscendingLayout(2)));
  EXPECT_EQ(absl::HashOf(wrapped), absl::HashOf(PjRtLayout(MakeDescendingLayout(2))));
}

TEST(PjRtLayoutTest, TextRoundTrips) {
  for (const char* text : {"{}", "{1,0}", "{0,2,1}", "{1,0:T(8,128)}", "{0:E(4)}"}) {
    const auto layout = PjRtLayout::Deserialize(text);
    ASSERT_TRUE(layout.ok()) << layout.status();
    EXPECT_EQ((*layout)->ToString(), text);
    EXPECT_EQ((*layout)->Serialize(), text);
  }
  EXPECT_EQ(PjRtLayout::Deserialize("{1,").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(CompiledMemoryStatsTest, RequiredBytesCountAliasesOnce) {
  CompiledMemoryStats stats;
  stats.generated_code_size_in_bytes = 1;
  stats.argument_size_in_bytes = 20;
  stats.output_size_in_bytes = 300;
  stats.alias_size_in_bytes = 10;
  stats.temp_size_in_bytes = 4000;
  EXPECT_EQ(stats.RequiredBytes(), 4311);
}

TEST(CompiledMemoryStatsTest, TextRoundTrips) {
  CompiledMemoryStats stats;
  EXPECT_EQ(stats.Serialize(), "pjrt.compiled_memory_stats.v1\n");
  EXPECT_EQ(*CompiledMemoryStats::Deserialize(stats.Serialize()), stats);
  stats.output_size_in_bytes = INT64_MAX;
  stats.host_temp_size_in_bytes = -1;
  stats.serialized_buffer_assignment = std::string("\0\n=\xff", 4);
  EXPECT_EQ(*CompiledMemoryStats::Deserialize(stats.Serialize()), stats);
  EXPECT_NE(stats, CompiledMemoryStats());
  EXPECT_EQ(stats.DebugString(),
            "CompiledMemoryStats(output_size_in_bytes=9223372036854775807, "
            "host_temp_size_in_bytes=-1)");
}

TEST(CompiledMemoryStatsTest, MalformedTextIsRejectedWithItsLine) {
  const std::string header = "pjrt.compiled_memory_stats.v1\n";
  for (const std::string& text :
       {std::string(), std::string("x\n"), header + "bogus=1\n", header + "temp_size_in_bytes=x\n",
        header + "temp_size_in_bytes\n", header + "serialized_buffer_assignment=0\n",
        header + "serialized_buffer_assignment=zz\n", header + "\n"}) {
    EXPECT_EQ(ErrorId(CompiledMemoryStats::Deserialize(text).status()), "PJRT-R004") << text;
  }
  const absl::Status status = CompiledMemoryStats::Deserialize(header + "bogus=1\n").status();
  EXPECT_NE(status.message().find("line 2"), absl::string_view::npos) << status;
}

TEST(AllocatorStatsTest, PrintsWhatIsKnown) {
  AllocatorStats stats;
  stats.bytes_in_use = 5;
  EXPECT_NE(stats.DebugString().find("bytes_in_use: 5\n"), std::string::npos);
  EXPECT_EQ(stats.DebugString().find("pool_bytes"), std::string::npos);
  stats.pool_bytes = 0;
  EXPECT_NE(stats.DebugString().find("pool_bytes: 0\n"), std::string::npos);
}

// Notes its destruction.
struct Noisy {
  Noisy(std::string* a_log, char a_name) : log(a_log), name(a_name) {}
  ~Noisy() { log->push_back(name); }
  std::string* log;
  char name;
};
struct OtherNoisy : Noisy {
  using Noisy::Noisy;
};

TEST(ExecuteContextTest, UserDataIsFoundByItsType) {
  ExecuteContext context;
  EXPECT_EQ(context.kind(), "base");
  EXPECT_TRUE(context.ffi_context().Emplace<std::string>("text").ok());
  int borrowed = 3;
  EXPECT_TRUE(context.ffi_context().Insert(&borrowed).ok());
  const ExecuteContext& view = context;
  EXPECT_EQ(**view.ffi_context().Lookup<std::string>(), "text");
  EXPECT_EQ(*view.ffi_context().Lookup<int>(), &borrowed);
  const absl::Status missing = view.ffi_context().Lookup<double>().status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ErrorId(missing), "PJRT-R009");
}

TEST(ExecuteContextTest, TypesAreUnique) {
  ffi::ExecutionContext context;
  int number = 0;
  EXPECT_TRUE(context.Emplace<int>(1).ok());
  EXPECT_EQ(context.Emplace<int>(2).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(context.Insert(&number).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(**context.Lookup<int>(), 1);
  EXPECT_EQ(context.Insert<double>(nullptr).code(), absl::StatusCode::kInvalidArgument);
}

TEST(ExecuteContextTest, OwnedDataIsDestroyedInReverseOrder) {
  std::string log;
  {
    ffi::ExecutionContext context;
    EXPECT_TRUE(context.Emplace<Noisy>(&log, 'a').ok());
    EXPECT_TRUE(context.Emplace<OtherNoisy>(&log, 'b').ok());
  }
  EXPECT_EQ(log, "ba");
}

TEST(ExecuteContextTest, CpuContextOverridesTheProcess) {
  CpuExecuteContext context;
  EXPECT_EQ(context.kind(), CpuExecuteContext::kKind);
  EXPECT_FALSE(context.process_index().has_value());
  context.process_index() = 3;
  EXPECT_EQ(context.process_index(), 3);
  EXPECT_EQ(context.collectives(), nullptr);
}

}  // namespace
}  // namespace pjrt

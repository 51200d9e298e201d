// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by blocks. For each block of C (mc x nc) and each block of the inner dimension
// (kc), the block of A is packed into panels of mr rows, panel[p][0..mr), in the thread's scratch,
// about half of L2; the block of B into panels of nr columns, panel[p][0..nr), of which kc rows fit
// L1; and a tile kernel multiplies a panel by a panel and adds to an mr x nr tile of C.
//
// Packing converts to the compute type, so that one kernel a compute type serves every element
// type. Small integers stay small, and bf16 on some levels: tiles of them multiply groups of 2 or 4
// neighbours along the inner dimension at once. B is packed once, in a phase of its own, and shared
// by all blocks of rows; when there are few rows each block packs what it needs, and where B's rows
// are contiguous and few rows use them, B is read in place.
//
// C is accumulated where it lies when it has the compute type, else in a tile of scratch that is
// converted at the end. A sum runs over p in order within a block of kc, and over the blocks in
// order: the split into units plays no part.
#include "src/cpu_device/kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/gemm_rows.h"
#include "src/cpu_device/kernels/gemm_tile.h"
#include "src/cpu_device/kernels/gemm_tiny.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

// Bytes of a panel of B: with AVX-512's 32 columns of f32, 256 deep. A panel and the rows of A that
// meet it stay in a 32 KiB L1 and a 512 KiB L2.
constexpr int64_t kPanelBytes = 32 * 1024;
constexpr int64_t kBlockBytesA = 128 * 1024;
// A block of C, which is written once for each block of the inner dimension.
constexpr int64_t kBlockBytesC = 256 * 1024;
constexpr int64_t kMaxKc = 384;
constexpr int64_t kUnitColumns = 512;
// More of B than this is packed by the units, block by block, rather than all at once.
constexpr int64_t kMaxSharedBytes = 64 << 20;
// So many units are enough to share the work.
constexpr int64_t kEnoughUnits = 8;
// More of packed B than this fits no second cache. Then units share its columns first, if one can
// have all rows, and each packs its own: 32 x 1024 x 1024 f32 took 1.5 times as long when they
// shared the rows. Less than this takes longer so, since each unit packs all of A.
constexpr int64_t kCachedBytesB = 2 << 20;
// Multiply-adds in a nanosecond on one thread, for estimates of cost only.
constexpr double kMulAddsPerNs = 30;
// Panels of B up to which rows of A stay where they are; rows so many bytes apart share few sets of
// an L1 cache.
constexpr int64_t kDirectPanels = 4;
// A product of so few terms costs no more than packing B.
constexpr int64_t kFewTerms = 8;
constexpr int64_t kCacheSetBytes = 1024;
// Lines that are neighbours are packed into several panels at once, so many bytes of all: a run of
// memory is read before the next one, which no machine foresees where it is a page away. So many
// runs ahead are asked for. 32 x 1024 x 1024 f32 took 4.0 ms by single panels, took 2.6 without
// asking, and takes 1.8.
constexpr int64_t kDealtBytes = 512;
constexpr int64_t kRunsAhead = 8;

// Copies `count` pieces of kBytes, or of `bytes` where that is 0, to places `step` bytes apart.
using DealFn = void (*)(char* to, int64_t step, const char* from, int64_t count, int64_t bytes);
template <int64_t kBytes>
void Deal(char* to, int64_t step, const char* from, int64_t count, int64_t bytes) {
  if (kBytes != 0) bytes = kBytes;
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * step, from + i * bytes, bytes);
}
// The function for pieces of so many bytes, quick if they are one of kSizes.
template <int64_t... kSizes>
DealFn DealOf(int64_t bytes) {
  DealFn deal = Deal<0>;
  (void)((bytes == kSizes && (deal = Deal<kSizes>, true)) || ...);
  return deal;
}

// The tile for a product: one of small integers where both operands and the sums allow it.
const GemmTile& ChooseTile(const GemmProblem& p, const GemmKernels& kernels) {
  const auto kind = [](PrimitiveType type) {
    const CType compute = ComputeTypeOf(type);
    return compute == CType::kS8    ? static_cast<int>(SmallInt::kS8)
           : compute == CType::kU8  ? static_cast<int>(SmallInt::kU8)
           : compute == CType::kS16 ? static_cast<int>(SmallInt::kS16)
                                    : -1;
  };
  if (p.accumulate == CType::kS32 || p.accumulate == CType::kU32) {
    const int a = kind(p.a_type), b = kind(p.b_type);
    if (a >= 0 && b >= 0 && kernels.small[a][b].fn != nullptr) return kernels.small[a][b];
  }
  if (p.a_type == BF16 && p.b_type == BF16 && p.accumulate == CType::kF32 &&
      kernels.bf16.fn != nullptr)
    return kernels.bf16;
  return kernels.tile[static_cast<int>(p.accumulate)];
}

class BlockedGemm final : public Gemm {
 public:
  BlockedGemm(const GemmProblem& problem, const Kernels& kernels)
      : p_(problem), k_(*kernels.block), tile_(ChooseTile(problem, *kernels.gemm)) {
    size_ = kCTypeSize[static_cast<int>(p_.accumulate)];
    a_ =
        PackingOf(p_.a_type, tile_.mr, p_.a_source == GemmProblem::kMemory && p_.a_row_stride == 1);
    b_ = PackingOf(p_.b_type, tile_.nr, p_.b_col_stride == 1);
    const bool same_type = ComputeTypeOf(p_.c_type) == p_.accumulate;
    store_c_ = k_.store[p_.c_type];
    narrow_c_ = same_type ? nullptr
                          : k_.convert[static_cast<int>(ComputeTypeOf(p_.c_type))]
                                      [static_cast<int>(p_.accumulate)];
    in_place_ = same_type && store_c_ == nullptr;

    kc_ = std::clamp<int64_t>(kPanelBytes / (tile_.nr * size_), 64, kMaxKc) * tile_.group;
    // Nearly equal blocks of the inner dimension.
    const int64_t k_blocks = std::max<int64_t>(CeilDiv(p_.k, kc_), 1);
    kc_ = AlignUp(std::max<int64_t>(CeilDiv(p_.k, k_blocks), 1), tile_.group);
    mc_ = std::max<int64_t>(kBlockBytesA / (Depth(kc_) * size_) / tile_.mr, 1) * tile_.mr;
    nc_ = std::min(AlignUp(p_.n, tile_.nr), AlignUp(kUnitColumns, tile_.nr));
    mc_ = std::min(mc_, AlignUp(kBlockBytesC / (nc_ * size_), tile_.mr));
    mc_ = std::min(mc_, AlignUp(p_.m, tile_.mr));
    // Enough units to share the work, as long as each has some 50 us of it.
    const auto share = [&](int64_t* size, int64_t least, int64_t tile) {
      while (*size > least && Units() < kEnoughUnits && UnitMulAdds() > 1.5e6)
        *size = AlignUp(*size / 2, tile);
    };
    const int64_t packed_bytes = p_.batch * AlignUp(p_.n, tile_.nr) * EntryRows() * size_;
    if (p_.m <= mc_ && packed_bytes > kCachedBytesB) share(&nc_, 4 * tile_.nr, tile_.nr);
    share(&mc_, tile_.mr, tile_.mr);
    share(&nc_, 4 * tile_.nr, tile_.nr);

    // B in place: same type, contiguous rows, and too few rows of A or of B to pay for packing.
    direct_b_ =
        b_.convert == nullptr && b_.deal != nullptr && (p_.m <= 4 * tile_.mr || p_.k <= kFewTerms);
    // A in place: few panels of B would share what packing costs, and its rows don't meet in a few
    // sets of the cache.
    direct_a_ = a_.convert == nullptr && p_.a_source == GemmProblem::kMemory &&
                tile_.in_place != nullptr && p_.a_col_stride == 1 &&
                p_.n <= kDirectPanels * tile_.nr &&
                (p_.a_row_stride * size_ % kCacheSetBytes != 0 || p_.n <= tile_.nr);
    shared_b_ = !direct_b_ && p_.m > 2 * mc_ && packed_bytes <= kMaxSharedBytes;
    while (shared_b_ && b_.panels > 1 && PackUnits() < kEnoughUnits) b_.panels /= 2;
    description_ = absl::StrCat("gemm ", GetPrimitiveTypeInfo(p_.a_type).name, " ",
                                p_.batch > 1 ? absl::StrCat(p_.batch, "x") : "", p_.m, "x", p_.n,
                                "x", p_.k, ", ", kernels.name, " ", tile_.mr, "x", tile_.nr);
  }

  int num_phases() const override { return shared_b_ ? 2 : 1; }
  int64_t num_units(int phase) const override {
    return shared_b_ && phase == 0 ? PackUnits() : Units();
  }
  int64_t shared_bytes() const override {
    return shared_b_ ? p_.batch * Panels() * tile_.nr * EntryRows() * size_ : 0;
  }
  int64_t scratch_bytes() const override {
    return b_offset() + BBlockBytes() + edge_bytes() + c_bytes() + row_bytes() + fill_bytes();
  }
  double cost_ns() const override {
    return 100 + static_cast<double>(p_.batch) * p_.m * p_.n * (p_.k + 16) / kMulAddsPerNs *
                     (size_ / 4.0);
  }
  const char* description() const override { return description_.c_str(); }

  void Run(const Batch& batch, int phase, int64_t unit, char* shared,
           char* scratch) const override {
    if (shared_b_ && phase == 0) {
      const int64_t panel = unit % PanelGroups() * b_.panels;
      const int64_t k_block = unit / PanelGroups() % KBlocks();
      const int64_t entry = unit / PanelGroups() / KBlocks();
      const int64_t p0 = k_block * kc_;
      PackB(batch.operands(entry).b, p0, std::min(kc_, p_.k - p0), panel * tile_.nr, b_.panels,
            SharedPanel(shared, entry, k_block, panel), scratch);
      return;
    }
    Multiply(batch, unit, shared, scratch);
  }

 private:
  // How an operand is packed into panels of `width` lines.
  struct Packing {
    PrimitiveType type = F32;     // in memory
    ConvertFn convert = nullptr;  // null: nothing to convert
    int64_t width = 1;
    DealFn deal = nullptr;  // not null: lines are neighbours, and go
    int64_t panels = 1;     // into so many panels at once
  };
  Packing PackingOf(PrimitiveType type, int64_t width, bool is_dealt) const {
    Packing packing = {type, Converter(type), width};
    if (is_dealt && tile_.group == 1) {
      // Panels are 4, 6 or 14 rows or two vectors wide.
      packing.deal = DealOf<16, 24, 32, 48, 56, 64, 112, 128>(width * size_);
      packing.panels = std::max<int64_t>(kDealtBytes / (width * size_), 1);
    }
    return packing;
  }

  // Rows of packed panels for so many elements of the inner dimension: of A, of B, and of B for a
  // whole matrix.
  int64_t Depth(int64_t depth) const { return CeilDiv(depth, tile_.group); }
  int64_t RowsA(int64_t depth) const { return Depth(depth) + tile_.extra_a; }
  int64_t RowsB(int64_t depth) const { return Depth(depth) + tile_.extra_b; }
  int64_t EntryRows() const {
    return p_.k == 0 ? 0 : (KBlocks() - 1) * RowsB(kc_) + RowsB(p_.k - (KBlocks() - 1) * kc_);
  }
  int64_t KBlocks() const { return CeilDiv(p_.k, kc_); }
  int64_t Panels() const { return CeilDiv(p_.n, tile_.nr); }
  int64_t PanelGroups() const { return CeilDiv(Panels(), b_.panels); }
  int64_t RowBlocks() const { return CeilDiv(p_.m, mc_); }
  int64_t ColumnBlocks() const { return CeilDiv(p_.n, nc_); }
  int64_t PackUnits() const { return p_.batch * KBlocks() * PanelGroups(); }
  int64_t Units() const { return p_.batch * RowBlocks() * ColumnBlocks(); }
  double UnitMulAdds() const {
    return static_cast<double>(std::min(mc_, p_.m)) * static_cast<double>(std::min(nc_, p_.n)) *
           static_cast<double>(p_.k);
  }

  // Scratch: packed A | packed B block | one edge panel | the accumulating block of C | one row for
  // conversions | a tile of A as its source writes it.
  int64_t b_offset() const { return AlignUp(mc_ * RowsA(kc_) * size_); }
  int64_t BBlockBytes() const {
    return shared_b_ || direct_b_ ? 0 : AlignUp(nc_ * RowsB(kc_) * size_);
  }
  int64_t edge_bytes() const {
    return AlignUp(tile_.nr * RowsB(kc_) * size_) + AlignUp(int64_t{tile_.mr} * tile_.nr * size_);
  }
  int64_t c_bytes() const { return in_place_ ? 0 : AlignUp(mc_ * nc_ * size_); }
  int64_t row_bytes() const {
    return 3 * AlignUp(std::max({kc_, nc_, int64_t{tile_.nr}, kDealtBytes / size_}) * 16);
  }

  int64_t fill_bytes() const {
    return p_.a_source == GemmProblem::kMemory ? 0 : AlignUp(tile_.mr * kc_ * ByteWidth(p_.a_type));
  }

  char* SharedPanel(char* shared, int64_t entry, int64_t k_block, int64_t panel) const {
    // Blocks of kc rows are contiguous: panels of a block, then the next block.
    const int64_t rows = RowsB(std::min(kc_, p_.k - k_block * kc_));
    return shared + ((entry * EntryRows() + k_block * RowsB(kc_)) * Panels() + panel * rows) *
                        tile_.nr * size_;
  }

  ConvertFn Converter(PrimitiveType type) const {
    const CType compute = ComputeTypeOf(type);
    if (k_.load[type] == nullptr)
      return compute == p_.accumulate
                 ? nullptr
                 : k_.convert[static_cast<int>(p_.accumulate)][static_cast<int>(compute)];
    return k_.load[type];
  }

  // `count` elements at `from`, `stride` elements apart, as contiguous elements of the compute type
  // at `to`. `row` is working memory.
  void LoadRow(const Packing& packing, const char* from, int64_t stride, int64_t count, char* to,
               char* row) const {
    const PrimitiveType type = packing.type;
    const ConvertFn convert = packing.convert;
    const int64_t size = ByteWidth(type);
    const char* source = from;
    char* const loaded = row;
    char* const converted = row + row_bytes() / 3;
    if (stride != 1) {
      k_.gather_stride[SizeLog2(size)](convert == nullptr ? to : loaded, from, stride, count);
      if (convert == nullptr) return;
      source = loaded;
    } else if (convert == nullptr) {
      std::memcpy(to, from, count * size);
      return;
    }
    const CType compute = ComputeTypeOf(type);
    if (compute == p_.accumulate || k_.load[type] == nullptr) {
      convert(to, source, count);
      return;
    }
    // Memory type to its compute type, then to the product's.
    k_.load[type](converted, source, count);
    k_.convert[static_cast<int>(p_.accumulate)][static_cast<int>(compute)](to, converted, count);
  }

  // Packs `lines` lines (rows of A, columns of B), which are neighbours, by `depth` into panels,
  // p-major, panel_bytes apart; lines beyond are zero.
  void DealPanels(const Packing& packing, const char* from, int64_t p_stride, int64_t lines,
                  int64_t depth, char* panels, int64_t panel_bytes, char* row) const {
    const int64_t size = ByteWidth(packing.type), piece = packing.width * size_;
    const int64_t whole = lines / packing.width, rest = lines % packing.width * size_;
    char* const line = row + 2 * (row_bytes() / 3);
    char* const last = panels + whole * panel_bytes;
    if (rest > 0) std::memset(last, 0, depth * piece);
    for (int64_t p = 0; p < depth; ++p, from += p_stride * size) {
      const char* source = from;
      for (int64_t i = 0; i < lines * size; i += kCacheLine)
        __builtin_prefetch(from + kRunsAhead * p_stride * size + i);
      if (packing.convert != nullptr) {
        LoadRow(packing, from, 1, lines, line, row);
        source = line;
      }
      packing.deal(panels + p * piece, panel_bytes, source, whole, piece);
      if (rest > 0) std::memcpy(last + p * piece, source + whole * piece, rest);
    }
  }

  // The same for lines that are not, into one panel.
  void PackPanel(const Packing& packing, const char* from, int64_t line_stride, int64_t p_stride,
                 int64_t lines, int64_t depth, char* panel, char* row) const {
    const int64_t size = ByteWidth(packing.type), width = packing.width;
    if (lines < width) std::memset(panel, 0, depth * width * size_);
    if (p_stride != 1) {
      // Across lines: a row of the panel at a time.
      for (int64_t p = 0; p < depth; ++p)
        LoadRow(packing, from + p * p_stride * size, line_stride, lines, panel + p * width * size_,
                row);
      return;
    }
    if (packing.convert == nullptr) {
      k_.transpose_2d[SizeLog2(size_)](panel, width, from, line_stride, lines, depth);
      return;
    }
    // Along lines: each is converted, then spread over the panel.
    char* const line = row + 2 * (row_bytes() / 3);
    for (int64_t i = 0; i < lines; ++i) {
      LoadRow(packing, from + i * line_stride * size, 1, depth, line, row);
      k_.scatter_stride[SizeLog2(size_)](panel + i * size_, line, width, depth);
    }
  }

  // As many rows as fill a_.panels panels, or fewer.
  void PackA(const Batch& batch, int64_t entry, const char* a, int64_t row, int64_t rows,
             int64_t p0, int64_t depth, char* panel, char* buffer) const {
    const int64_t size = ByteWidth(p_.a_type);
    char* const tile = buffer + row_bytes();
    if (tile_.group > 1) {
      int64_t row_stride = p_.a_row_stride, col_stride = p_.a_col_stride;
      const char* from = a + (row * row_stride + p0 * col_stride) * size;
      if (p_.a_source != GemmProblem::kMemory) {
        batch.FillA(entry, row, rows, p0, depth, tile_.mr, tile);
        from = tile;
        row_stride = p_.a_source == GemmProblem::kRows ? depth : 1;
        col_stride = p_.a_source == GemmProblem::kRows ? 1 : tile_.mr;
      }
      return tile_.pack_a(panel, from, row_stride, col_stride, rows, depth, tile_.mr);
    }
    switch (p_.a_source) {
      case GemmProblem::kMemory:
        a += (row * p_.a_row_stride + p0 * p_.a_col_stride) * size;
        if (a_.deal != nullptr)
          return DealPanels(a_, a, p_.a_col_stride, rows, depth, panel,
                            tile_.mr * RowsA(depth) * size_, buffer);
        return PackPanel(a_, a, p_.a_row_stride, p_.a_col_stride, rows, depth, panel, buffer);
      case GemmProblem::kRows:
        batch.FillA(entry, row, rows, p0, depth, tile_.mr, tile);
        return PackPanel(a_, tile, depth, 1, rows, depth, panel, buffer);
      case GemmProblem::kPanels:
        if (a_.convert == nullptr) return batch.FillA(entry, row, rows, p0, depth, tile_.mr, panel);
        batch.FillA(entry, row, rows, p0, depth, tile_.mr, tile);
        for (int64_t p = 0; p < depth; ++p)
          LoadRow(a_, tile + p * tile_.mr * size, 1, rows, panel + p * tile_.mr * size_, buffer);
        return;
    }
  }

  // `panels` panels, or as many as there are.
  void PackB(const char* b, int64_t p0, int64_t depth, int64_t column, int64_t panels, char* to,
             char* scratch) const {
    const int64_t panel_bytes = tile_.nr * RowsB(depth) * size_, end = column + panels * tile_.nr;
    const int64_t columns = std::min(p_.n, end) - column;
    const char* from = b + (p0 * p_.b_row_stride + column * p_.b_col_stride) * ByteWidth(p_.b_type);
    if (b_.deal != nullptr)
      return DealPanels(b_, from, p_.b_row_stride, columns, depth, to, panel_bytes, Row(scratch));
    for (int64_t j = 0; j < columns; j += tile_.nr, to += panel_bytes) {
      const char* const lines = from + j * p_.b_col_stride * ByteWidth(p_.b_type);
      const int64_t count = std::min<int64_t>(tile_.nr, columns - j);
      if (tile_.group > 1) {
        tile_.pack_b(to, lines, p_.b_col_stride, p_.b_row_stride, count, depth, tile_.nr);
      } else {
        PackPanel(b_, lines, p_.b_col_stride, p_.b_row_stride, count, depth, to, Row(scratch));
      }
    }
  }
  char* Row(char* scratch) const {
    return scratch + b_offset() + BBlockBytes() + edge_bytes() + c_bytes();
  }

  void Multiply(const Batch& batch, int64_t unit, char* shared, char* scratch) const {
    // Neighbouring units share columns of B.
    const int64_t row_block = unit % RowBlocks();
    const int64_t column_block = unit / RowBlocks() % ColumnBlocks();
    const int64_t entry = unit / RowBlocks() / ColumnBlocks();
    const Operands at = batch.operands(entry);
    const int64_t i0 = row_block * mc_, rows = std::min(mc_, p_.m - i0);
    const int64_t j0 = column_block * nc_, columns = std::min(nc_, p_.n - j0);
    char* const packed_a = scratch;
    char* const packed_b = scratch + b_offset();
    char* const edge = packed_b + BBlockBytes();
    char* const edge_tile = edge + AlignUp(tile_.nr * RowsB(kc_) * size_);
    // Where the sums are kept.
    char* c = in_place_ ? at.c + (i0 * p_.c_row_stride + j0) * size_ : edge + edge_bytes();
    const int64_t c_stride = in_place_ ? p_.c_row_stride : nc_;
    if (p_.k == 0) {
      for (int64_t i = 0; i < rows; ++i) std::memset(c + i * c_stride * size_, 0, columns * size_);
    }
    for (int64_t p0 = 0; p0 < p_.k; p0 += kc_) {
      const int64_t depth = std::min(kc_, p_.k - p0);
      const int64_t together = a_.panels * tile_.mr;
      for (int64_t i = 0; !direct_a_ && i < rows; i += together)
        PackA(batch, entry, at.a, i0 + i, std::min(together, rows - i), p0, depth,
              packed_a + i * RowsA(depth) * size_, Row(scratch));
      for (int64_t next = 0; next < columns; next += tile_.nr) {
        // The last columns may take half a tile, and where all terms are summed at once, a tile
        // may compute columns once more.
        const bool is_half = tile_.half != nullptr && columns - next <= tile_.nr / 2;
        const int64_t width = is_half ? tile_.nr / 2 : tile_.nr;
        const bool again = direct_b_ && depth == p_.k && columns >= width;
        const int64_t j = again ? std::min(next, columns - width) : next;
        const bool whole = columns - j >= width;
        const char* panel;
        int64_t b_stride = tile_.nr;
        if (shared_b_) {
          panel = SharedPanel(shared, entry, p0 / kc_, (j0 + j) / tile_.nr);
        } else if (direct_b_ && whole) {
          panel = at.b + (p0 * p_.b_row_stride + j0 + j) * size_;
          b_stride = p_.b_row_stride;
        } else if (direct_b_) {
          PackB(at.b, p0, depth, j0 + j, 1, edge, scratch);
          panel = edge;
        } else {
          char* const to = packed_b + j * RowsB(depth) * size_;
          if (j / tile_.nr % b_.panels == 0)
            PackB(at.b, p0, depth, j0 + j, std::min(b_.panels, CeilDiv(columns - j, tile_.nr)), to,
                  scratch);
          panel = to;
        }
        for (int64_t i = 0; i < rows; i += tile_.mr) {
          const int tile_rows = static_cast<int>(std::min<int64_t>(tile_.mr, rows - i));
          char* to = c + (i * c_stride + j) * size_;
          const auto run = [&](char* tile, int64_t tile_stride) {
            if (direct_a_) {
              const char* a = at.a + ((i0 + i) * p_.a_row_stride + p0) * size_;
              (is_half ? tile_.half_in_place : tile_.in_place)(
                  depth, a, p_.a_row_stride, panel, b_stride, tile, tile_stride, tile_rows, p0 > 0);
            } else {
              (is_half ? tile_.half : tile_.fn)(Depth(depth), packed_a + i * RowsA(depth) * size_,
                                                panel, b_stride, tile, tile_stride, tile_rows,
                                                p0 > 0);
            }
          };
          if (whole || !in_place_) {
            run(to, c_stride);
            continue;
          }
          // The last columns: through a whole tile.
          const int64_t bytes = (columns - j) * size_;
          for (int r = 0; p0 > 0 && r < tile_rows; ++r)
            std::memcpy(edge_tile + r * tile_.nr * size_, to + r * c_stride * size_, bytes);
          run(edge_tile, tile_.nr);
          for (int r = 0; r < tile_rows; ++r)
            std::memcpy(to + r * c_stride * size_, edge_tile + r * tile_.nr * size_, bytes);
        }
      }
    }
    if (!in_place_)
      StoreC(c, at.c + (i0 * p_.c_row_stride + j0) * ByteWidth(p_.c_type), rows, columns,
             Row(scratch));
  }

  void StoreC(const char* from, char* to, int64_t rows, int64_t columns, char* row) const {
    for (int64_t i = 0; i < rows; ++i) {
      const char* source = from + i * nc_ * size_;
      char* target = to + i * p_.c_row_stride * ByteWidth(p_.c_type);
      if (narrow_c_ != nullptr) {
        char* narrowed = store_c_ == nullptr ? target : row;
        narrow_c_(narrowed, source, columns);
        source = narrowed;
      }
      if (store_c_ != nullptr) store_c_(target, source, columns);
    }
  }

  const GemmProblem p_;
  const BlockKernels& k_;
  const GemmTile tile_;
  int64_t size_ = 4;  // of an element of the compute type
  Packing a_, b_;
  ConvertFn store_c_ = nullptr, narrow_c_ = nullptr;
  bool in_place_ = true;  // C has the compute type
  bool direct_a_ = false, direct_b_ = false, shared_b_ = false;
  int64_t kc_ = 1, mc_ = 1, nc_ = 1;
  std::string description_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Gemm>> MakeGemm(const GemmProblem& problem, const Kernels& kernels) {
  if (kernels.gemm->tile[static_cast<int>(problem.accumulate)].fn == nullptr) {
    return Unimplemented("PJRT-C014", absl::StrCat("no matrix product kernel for compute type ",
                                                   static_cast<int>(problem.accumulate)));
  }
  if (std::unique_ptr<Gemm> tiny = MakeTinyGemm(problem, kernels)) return tiny;
  if (std::unique_ptr<Gemm> rows = MakeRowGemm(problem, kernels)) return rows;
  return std::unique_ptr<Gemm>(std::make_unique<BlockedGemm>(problem, kernels));
}

}  // namespace pjrt::cpu

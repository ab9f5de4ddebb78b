// How the watched variants of loads and stores tell of an access before they make it. Cells that
// lie in a row are looked at together; what is not in order at first sight goes to the block's
// watch lane by lane. Included by the ops files only: everything here is compiled once per
// instruction set.
#pragma once

#include <cstdint>

#include "sim/block_watch.hpp"
#include "sim/reach.hpp"
#include "sim/scattered_access.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// The limits between which a plain access is in order, whoever made it, as stamps.
struct RowLimits {
  Stamp own = 0;      // stamps from here on are of this block
  Stamp floor = 0;    // ... and before this one, made before what the warp does now
  Stamp met = 0;      // stamps of the warp from here on: its lanes have not met since
  Stamp written = 0;  // written cells have at least this one
};

[[nodiscard, gnu::always_inline]] inline Stamp all_ones(bool condition) {
  return -static_cast<Stamp>(condition);
}

// All bits set unless the access `stamp` and that of the thread `mine` may collide.
[[nodiscard, gnu::always_inline]] inline Stamp in_order(Stamp stamp, Stamp mine,
                                                        const RowLimits& limits) {
  const Stamp same = all_ones(((stamp ^ mine) & (stamp::kThread | stamp::kOtherLane)) == 0);
  const Stamp known = all_ones(stamp < limits.floor) | same;
  return (known & all_ones(stamp >= limits.own)) | all_ones(stamp == 0);
}

// One row of cells of an array.
struct CellRow {
  Stamp* writes;
  Stamp* reads;
  Stamp* other_reads;
  const Stamp* lanes;
  std::uint32_t count;
};

// Notes the reads; false if a cell was not written, or by a thread without order.
[[nodiscard, gnu::noinline]] inline bool read_row(const CellRow& row, Stamp base,
                                                  const RowLimits limits) {
  Stamp* __restrict reads = row.reads;
  Stamp* __restrict other_reads = row.other_reads;
  const Stamp* __restrict writes = row.writes;
  const Stamp* __restrict lanes = row.lanes;
  Stamp good = -1;
  for (std::uint32_t i = 0; i < row.count; ++i) {
    const Stamp mine = base | lanes[i], written = writes[i], last = reads[i];
    good &= in_order(written, mine, limits) & all_ones(written >= limits.written);
    const Stamp own_warp =
        all_ones(((last ^ mine) & stamp::kWarp) == 0) & all_ones(last >= limits.own);
    const Stamp differ = (last ^ mine) & stamp::kLane;
    const Stamp other =
        differ != 0 ? (last & stamp::kLane) << stamp::kOtherLaneShift : last & stamp::kOtherLane;
    const Stamp alone = all_ones(((mine >> stamp::kOtherLaneShift ^ mine) & stamp::kLane) == 0);
    const Stamp together = own_warp & alone & all_ones(last >= limits.met);
    other_reads[i] = (other_reads[i] & own_warp) | (last & ~own_warp);
    reads[i] = (mine & ~(stamp::kOtherLane & together)) | (other & together);
  }
  return good == -1;
}

// False if some access to a cell may collide with this write; notes nothing then.
[[nodiscard, gnu::noinline]] inline bool may_write_row(const CellRow& row, Stamp base,
                                                       const RowLimits limits) {
  Stamp good = -1;
  for (std::uint32_t i = 0; i < row.count; ++i) {
    const Stamp mine = base | row.lanes[i];
    good &= in_order(row.writes[i], mine, limits) & in_order(row.reads[i], mine, limits) &
            in_order(row.other_reads[i], mine, limits);
  }
  return good == -1;
}

[[gnu::always_inline]] inline void write_row(const CellRow& row, Stamp base) {
  for (std::uint32_t i = 0; i < row.count; ++i) row.writes[i] = base | row.lanes[i];
}

[[gnu::noinline]] inline void watch_lanes(Warp& warp, const Op& op, const Addresses& addresses,
                                          std::uint32_t mask, AccessKind kind) {
  warp.block->watch->access({warp, op, mask, space_of(op), addresses.of, kind, shape_of(op.aux),
                             kind == AccessKind::store});
}

[[gnu::noinline]] inline void touch_pattern(WatchedArray& array, const AddressPattern& pattern,
                                            std::uint64_t offset, std::uint32_t mask,
                                            std::uint32_t bytes) {
  if (pattern.kind != PatternKind::general) {
    const auto span = static_cast<std::uint64_t>(pattern.highest - pattern.lowest) + bytes;
    array.sectors.touch(offset, span);
    return;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::int64_t delta = pattern.expected[__builtin_ctz(rest)];
    array.sectors.touch(offset + static_cast<std::uint64_t>(delta), bytes);
  }
}

// The array of the pattern's addresses, nullptr if nobody asks who accesses it.
template <class Space>
[[nodiscard]] inline WatchedArray* array_of(Warp& warp, const AddressPattern& pattern,
                                            std::uint64_t address, std::uint32_t mask,
                                            std::uint32_t bytes) {
  BlockWatch& watch = *warp.block->watch;
  if constexpr (std::is_same_v<Space, SharedAccess>) {
    return watch.shared().tracked ? &watch.shared() : nullptr;
  } else {
    WatchedArray& array = watch.launch().array_at(address);
    if (array.counted) touch_pattern(array, pattern, address - array.origin, mask, bytes);
    return array.tracked ? &array : nullptr;
  }
}

[[nodiscard]] inline RowLimits limits_of(BlockWatch& watch, const WatchedArray& array,
                                         std::uint32_t warp) {
  const BlockClocks& clocks = watch.clocks();
  const bool shared = array.allocation == nullptr;
  RowLimits limits;
  limits.own = shared ? 0 : stamp::at(watch.turn());
  limits.floor = stamp::at(clocks.floor(warp));
  limits.met = stamp::at(clocks.lanes_met(warp));
  limits.written = shared ? stamp::at(clocks.begun()) : array.has_contents ? 0 : 1;
  return limits;
}

// False: to be looked at lane by lane.
template <AccessKind Kind>
[[nodiscard]] inline bool note_rows(BlockWatch& watch, const WatchedArray& array,
                                    const AccessPlan& plan, std::uint64_t offset, const Op& op,
                                    std::uint32_t warp) {
  const RowLimits limits = limits_of(watch, array, warp);
  const Stamp base = stamp::of_warp(watch.launch().now(), op.pc, Strength::plain, warp);
  const AccessCells& cells = array.cells;
  const auto first = static_cast<std::int64_t>(offset >> cells.shift());
  const auto row_of = [&](const CellRun& run) {
    const std::int64_t at = first + run.first;
    return CellRow{cells.writes() + at, cells.reads() + at, cells.other_reads() + at,
                   plan.lanes.data() + run.lanes_at, run.count};
  };
  if constexpr (Kind == AccessKind::load) {
    bool good = true;
    for (const CellRun& run : plan.runs) good = read_row(row_of(run), base, limits) && good;
    return good;
  }
  if (plan.shared_by_lanes) return false;
  for (const CellRun& run : plan.runs)
    if (!may_write_row(row_of(run), base, limits)) return false;
  for (const CellRun& run : plan.runs) write_row(row_of(run), base);
  return true;
}

// `address` is the first lane's; all lanes may make the access.
template <class Space, AccessKind Kind>
[[gnu::noinline]] void watch_pattern(Warp& warp, const Op& op, std::uint32_t mask,
                                     const AddressPattern& pattern,
                                     typename Space::Address address) {
  const AccessShape shape = shape_of(op.aux);
  WatchedArray* array = array_of<Space>(warp, pattern, address, mask, shape.bytes());
  if (array == nullptr) return;
  BlockWatch& watch = *warp.block->watch;
  const bool fine = array->cells.shift() <= __builtin_ctz(shape.element_bytes);
  if (fine && shape.order.strength == Strength::plain) {
    AccessPlan& plan = watch.launch().plan(op.memo);
    if (plan.fits(pattern, shape.bytes(), array->cells.shift()) &&
        note_rows<Kind>(watch, *array, plan, address - array->origin, op, warp.index))
      return;
  }
  watch_lanes(warp, op, spread(lanes<typename Space::Address>(warp, op.src[0]), op.imm, mask), mask,
              Kind);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

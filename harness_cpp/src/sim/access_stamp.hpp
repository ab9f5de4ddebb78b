// When, where and by whom a cell of memory was last read or written: one word, so that vectors
// compare four of them at a time.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"
#include "sim/memory_order.hpp"

namespace cudaopt::sim {

// Counts the events of a launch that may order accesses: barriers, warp synchronisations, fences,
// a block taking its turn. 29 bits are kept.
using Time = std::uint32_t;
inline constexpr Time kTimes = 1u << 29;
// Of a copy that may still be writing: later than everything, so that nobody knows it.
inline constexpr Time kUnderWay = kTimes - 1;
// Of a write whose thread left the block without the barrier that should order it.
inline constexpr Time kLeftBehind = kTimes - 2;

// 0: never accessed. Bit 63 stays clear: vectors compare signed words.
//   lane 5 | other lane 5 | warp 5 | strength 2 | pc 17 | time 29
// The other lane is one more of the same warp that read the cell since the lanes last met, or the
// lane again.
using Stamp = std::int64_t;

namespace stamp {

inline constexpr int kOtherLaneShift = 5, kWarpShift = 10, kStrengthShift = 15, kPcShift = 17,
                     kTimeShift = 34;
inline constexpr Stamp kLane = 31, kOtherLane = Stamp{31} << kOtherLaneShift,
                       kWarp = Stamp{31} << kWarpShift, kThread = kLane | kWarp;
inline constexpr std::int32_t kUnknownPc = (1 << (kTimeShift - kPcShift)) - 1;

[[nodiscard]] constexpr Stamp at(Time time) { return static_cast<Stamp>(time) << kTimeShift; }
[[nodiscard]] constexpr Stamp of_lanes(std::uint32_t lane, std::uint32_t other) {
  return static_cast<Stamp>(lane | other << kOtherLaneShift);
}

// Of a warp's instruction, its lanes left open.
[[nodiscard]] inline Stamp of_warp(Time time, std::int32_t pc, Strength strength,
                                   std::uint32_t warp) {
  const std::int32_t place = pc < kUnknownPc ? pc : kUnknownPc;
  return at(time) | static_cast<Stamp>(place) << kPcShift |
         static_cast<Stamp>(strength) << kStrengthShift | static_cast<Stamp>(warp) << kWarpShift;
}

[[nodiscard]] constexpr Time time(Stamp stamp) { return static_cast<Time>(stamp >> kTimeShift); }
[[nodiscard]] constexpr std::uint32_t lane(Stamp stamp) {
  return static_cast<std::uint32_t>(stamp & kLane);
}
[[nodiscard]] constexpr std::uint32_t other_lane(Stamp stamp) {
  return static_cast<std::uint32_t>(stamp >> kOtherLaneShift) & 31u;
}
[[nodiscard]] constexpr std::uint32_t warp(Stamp stamp) {
  return static_cast<std::uint32_t>(stamp >> kWarpShift) & 31u;
}
[[nodiscard]] constexpr Strength strength(Stamp stamp) {
  return static_cast<Strength>(stamp >> kStrengthShift & 3);
}
[[nodiscard]] constexpr std::int32_t pc(Stamp stamp) {
  return static_cast<std::int32_t>(stamp >> kPcShift) & kUnknownPc;
}

}  // namespace stamp
}  // namespace cudaopt::sim

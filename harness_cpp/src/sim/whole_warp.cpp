#include "sim/whole_warp.hpp"

#include <string>
#include <utility>

#include "sim/members.hpp"

namespace cudaopt::sim {

std::int32_t wait_for_whole_warp(Warp& warp, const Op& op, std::uint32_t mask) {
  if (warp.alive != kAllLanes || mask != warp.active) fail_incomplete_warp(warp, op, mask);
  return wait_for_all_lanes(warp, op);
}

void fail_incomplete_warp(const Warp& warp, const Op& op, std::uint32_t mask) {
  FaultDetail detail;
  detail.kind = FaultKind::absent_lane;
  detail.message =
      "a warp-wide matrix instruction is executed by " + std::to_string(__builtin_popcount(mask)) +
      " of the 32 threads of its warp; all must execute it together, so move it out of "
      "the branch, or make the block a multiple of 32 threads";
  fail(warp, op, __builtin_ctz(mask), std::move(detail));
}

}  // namespace cudaopt::sim

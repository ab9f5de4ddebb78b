// Which lanes of a warp run, and where: branches, joins, exits. A warp executes one set of lanes at
// a time; the others wait on its stack of splits for their turn, or for the lanes they parted from.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// Handlers.
std::int32_t branch_always(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t branch_if(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t exit_lanes(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t join_lanes(Warp& warp, const Op& op, std::uint32_t mask);  // inserted where lanes meet

// The running lanes are through with their path (or parked): takes the next split that can run.
// Returns its pc; with none left the warp has exited, or waits at a barrier.
[[nodiscard]] std::int32_t next_split(Warp& warp);

}  // namespace cudaopt::sim

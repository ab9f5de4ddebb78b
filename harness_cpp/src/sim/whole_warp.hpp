// Instructions that a whole warp executes together: all 32 threads must be there.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// The lanes in `mask`, not all 32, have reached `op`: they wait for the others, and execute it with
// them. Returns the next pc. Raises absent_lane if there are no 32 threads. The PTX manual leaves
// undefined what becomes of a matrix whose parts other threads hold.
std::int32_t wait_for_whole_warp(Warp& warp, const Op& op, std::uint32_t mask);

// The absent_lane of lanes whose warp will never be complete there.
[[noreturn]] void fail_incomplete_warp(const Warp& warp, const Op& op, std::uint32_t mask);

}  // namespace cudaopt::sim

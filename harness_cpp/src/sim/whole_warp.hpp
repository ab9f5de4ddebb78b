// Instructions that a whole warp executes together: all 32 threads must be there.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// Raises absent_lane unless every one of the 32 threads executes `op`. The PTX manual leaves
// undefined what becomes of a matrix whose parts other threads hold.
void check_whole_warp(const Warp& warp, const Op& op, std::uint32_t mask);

}  // namespace cudaopt::sim

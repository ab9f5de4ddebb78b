// The member mask of warp-wide instructions: who it names must be there.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// `members` holds one mask per lane. Raises absent_lane if an executing lane is not named by its
// own mask, names a lane that lives but does not execute this, or disagrees with a lane it names.
// Lanes that have exited, or that a block with a partial last warp never had, may be named.
void check_members(const Warp& warp, const Op& op, std::uint32_t mask,
                   const std::uint32_t* members);

}  // namespace cudaopt::sim

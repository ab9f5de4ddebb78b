// Fills the slots that no instruction writes: constants, parameters, special registers.
#pragma once

#include "sim/block.hpp"

namespace cudaopt::sim {

// What holds for the whole launch; thread indices included, as a warp keeps its place in the block.
void fill_launch_slots(Warp& warp);

// What changes from block to block.
void fill_block_slots(Warp& warp);

}  // namespace cudaopt::sim

// Fills the slots that no instruction writes: constants, parameters, special registers.
#pragma once

#include "sim/block.hpp"

namespace cudaopt::sim {

// What holds for the whole launch; thread indices included, as a warp keeps its place in the block.
void fill_launch_slots(Warp& warp, const FrameLayout& layout);

// What changes from block to block.
void fill_block_slots(Warp& warp, const FrameLayout& layout);

// What a frame starts with: zeroed where it may read before it writes, and where its local memory
// is.
void fill_frame_slots(Warp& warp, const FrameLayout& layout);

}  // namespace cudaopt::sim

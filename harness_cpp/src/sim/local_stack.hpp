// alloca and its kin: every thread moves the end of its frame's local memory.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// Handlers; addresses and sizes have 64 bits. alloca: src[0] bytes, src[1] alignment.
std::int32_t allocate_local(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t save_local_stack(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t restore_local_stack(Warp& warp, const Op& op, std::uint32_t mask);

}  // namespace cudaopt::sim

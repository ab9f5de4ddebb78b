// What timing knows of tensor cores and of the instructions that feed them.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.hpp"
#include "sim/machine.hpp"
#include "sim/request.hpp"

namespace cudaopt::sim {

// Issue slots of the tensor cores for mma.sync or wmma.mma, one being an m16n8k16 of halves; 0: not
// one of these.
[[nodiscard]] std::uint8_t matrix_slots(const ptx::Instruction& instruction);

// What an instruction does to the thread's asynchronous copies.
enum class CopyStep : std::uint8_t { none, start, commit, wait_group, wait_all };
[[nodiscard]] CopyStep copy_step(const ptx::Instruction& instruction);

// The requests of wmma.load and wmma.store: pieces of up to 16 bytes, 32 at a time.
[[nodiscard]] bool moves_tile(const ptx::Instruction& instruction);
[[nodiscard]] std::vector<LaneAddresses> tile_requests(const Warp& warp, const Op& op);

}  // namespace cudaopt::sim

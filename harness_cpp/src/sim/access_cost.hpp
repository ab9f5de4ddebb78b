// What one warp's access costs: 32-byte sectors of global memory, wavefronts of shared memory.
#pragma once

#include <cstdint>

namespace cudaopt::sim {

// Distinct sectors touched by the lanes in `mask`, each reading `bytes` from its address.
[[nodiscard]] std::uint32_t count_sectors(const std::uint64_t* addresses, std::uint32_t mask,
                                          std::uint32_t bytes);

// Cycles the 32 banks of 4 bytes need. Wider accesses go in phases (8 lanes of 16 bytes, 16 of 8);
// lanes that name the same word share it.
[[nodiscard]] std::uint32_t count_wavefronts(const std::uint64_t* addresses, std::uint32_t mask,
                                             std::uint32_t bytes);

}  // namespace cudaopt::sim

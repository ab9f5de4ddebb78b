// Time as `sim` has it: what a warp has executed. Equal in every run, on every host.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// An instruction takes about so long where each waits for the one before.
inline constexpr std::uint64_t kCyclesPerInstruction = 4, kNsPerInstruction = 2;

// Op::aux of read_clock: the factor, and whether the upper half is asked for.
[[nodiscard]] constexpr std::int32_t clock_aux(std::uint64_t factor, bool upper) {
  return static_cast<std::int32_t>(factor) | (upper ? 0x100 : 0);
}

[[nodiscard]] bool reads_clock(const Op& op);

// Handlers: dst[0] has 32 or 64 bits.
std::int32_t read_clock32(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t read_clock64(Warp& warp, const Op& op, std::uint32_t mask);

}  // namespace cudaopt::sim

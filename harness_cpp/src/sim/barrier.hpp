// The sixteen barriers of a block. A warp arrives as a whole: lanes that reach a barrier before the
// others of their warp are parked until those arrive at the same instruction.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

enum class BarrierKind : std::uint8_t { sync, arrive, popc, all, any };

// Op::aux of barrier instructions.
[[nodiscard]] constexpr std::int32_t barrier_aux(BarrierKind kind, bool has_count) {
  return static_cast<std::int32_t>(kind) | (has_count ? 0x100 : 0);
}

// Handler of bar.* and barrier.*: src[0] names the barrier, then a thread count if there is one,
// then the predicate of a reduction.
std::int32_t reach_barrier(Warp& warp, const Op& op, std::uint32_t mask);

// Every lane of the warp is parked or gone: continues them together, or raises barrier_divergence.
[[nodiscard]] std::int32_t unite_parked(Warp& warp);

// A warp has exited: the others no longer wait for it.
void leave_block(Warp& warp);

}  // namespace cudaopt::sim

// The sixteen barriers of a block. A warp arrives as a whole: lanes that reach a barrier before the
// others of their warp are parked until those arrive too.
//
// Barriers wait for the threads that have not exited (sm_70), so a thread may return early where
// others go on to a barrier. What is a barrier_divergence, of aligned barriers (bar.sync,
// __syncthreads):
// - lanes of a warp wait at one while others, alive, wait at another or where both would meet,
//   unless that is the kernel's end (kernel_ends.hpp);
// - it completes because threads exited that came past it: they left the kernel at code which every
//   thread behind the barrier executes, and not by a mere return; or others rely on what they
//   wrote. See passed_barriers.hpp.
// `barrier.sync` without .aligned may be executed by some lanes here, by others there.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

enum class BarrierKind : std::uint8_t { sync, arrive, popc, all, any };

// Op::aux of barrier instructions.
[[nodiscard]] constexpr std::int32_t barrier_aux(BarrierKind kind, bool has_count, bool aligned) {
  return static_cast<std::int32_t>(kind) | (has_count ? 0x100 : 0) | (aligned ? 0x200 : 0);
}

[[nodiscard]] inline bool is_aligned(const Op& op) { return (op.aux & 0x200) != 0; }

// Handler of bar.* and barrier.*: src[0] names the barrier, then a thread count if there is one,
// then the predicate of a reduction.
std::int32_t reach_barrier(Warp& warp, const Op& op, std::uint32_t mask);

// No lane of the warp can run, and some are parked at barriers: the warp arrives, or raises
// barrier_divergence.
[[nodiscard]] std::int32_t unite_parked(Warp& warp);

// Lanes leave the kernel.
void note_leaving(Warp& warp, const Op& op, std::uint32_t mask);

// A warp has exited: the others no longer wait for it.
void leave_block(Warp& warp);

}  // namespace cudaopt::sim

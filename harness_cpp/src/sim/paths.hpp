// The paths of a diverged warp: which can run, and whose turn it is. Lanes of one warp may wait for
// each other (sm_70 promises every one of them progress), so no path runs for ever while others
// could.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// The op the lanes of a split stand at.
[[nodiscard]] const Op& op_of(const Warp& warp, const Split& split);

// The running lanes, to go on at `pc` later.
[[nodiscard]] Split running_path(const Warp& warp, std::int32_t pc);

// Makes the lanes of `path` the running ones; its pc.
std::int32_t run_path(Warp& warp, const Split& path);

void push_path(Warp& warp, const Split& path);
Split take_path(Warp& warp, std::int32_t index);

// Lanes of a split that no path above it holds and that do not run: of a join, those that have
// arrived; of a path, all.
[[nodiscard]] std::uint32_t arrived_lanes(const Warp& warp, std::int32_t index);

// The index of the path that has waited longest and could run in place of the running one, or -1.
[[nodiscard]] std::int32_t oldest_path(const Warp& warp);

// The index of the innermost join at which lanes wait for others that still run, or -1.
[[nodiscard]] std::int32_t waiting_join(const Warp& warp);

// Lets the lanes that have arrived at this join go on without the others. They meet them again at
// the next outer join.
[[nodiscard]] Split part_from_join(Warp& warp, std::int32_t index);

// Gives another path the turn of the running one; with none there, lanes that wait at a join.
// False: no others could run.
bool yield(Warp& warp);

}  // namespace cudaopt::sim

// Which lanes of a warp run, and where: branches, joins, exits. A warp executes one set of lanes at
// a time; the others wait on its stack of splits for their turn, or for the lanes they parted from.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// Handlers.
std::int32_t branch_always(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t branch_if(Warp& warp, const Op& op, std::uint32_t mask);
// brx.idx: src[0] chooses from the table Program::branch_tables[aux].
std::int32_t branch_by_index(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t exit_lanes(Warp& warp, const Op& op, std::uint32_t mask);
std::int32_t join_lanes(Warp& warp, const Op& op, std::uint32_t mask);  // inserted where lanes meet

// The lanes of `rest`, of the active ones, wait for their turn at `pc`; all active ones meet at
// `meet`, an inserted op or -1. The caller chooses who goes on.
void split_off(Warp& warp, std::int32_t pc, std::uint32_t rest, std::int32_t meet);

// Every lane of the warp runs in the current frame: none waits for another but for calls to return.
void forget_partings(Warp& warp);

// The running lanes are through with their path (or parked): takes the next split that can run.
// Returns its pc; with none left the warp has exited, or waits at a barrier.
[[nodiscard]] std::int32_t next_split(Warp& warp);

}  // namespace cudaopt::sim

// Warp-wide instructions with a member mask: the lanes it names execute them together, wherever
// each of them stands. Lanes that reach one before the others wait on the stack of splits.
#pragma once

#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// Op::aux of warp-wide instructions: the source that holds the member mask, -1 for none, how the
// first source and the first result are held, and flags of the handler's own. All other operands
// are words, or, as a second result, a predicate.
[[nodiscard]] constexpr std::int32_t member_aux(int source, Slot first = Slot::b32,
                                                Slot result = Slot::b32, std::int32_t flags = 0) {
  return (source + 1) | static_cast<std::int32_t>(first) << 8 |
         static_cast<std::int32_t>(result) << 12 | flags << 16;
}
[[nodiscard]] constexpr std::int32_t member_flags(const Op& op) { return op.aux >> 16; }
[[nodiscard]] constexpr int member_source(const Op& op) { return (op.aux & 0xff) - 1; }
[[nodiscard]] constexpr Slot first_slot(const Op& op) {
  return static_cast<Slot>(op.aux >> 8 & 0xf);
}
[[nodiscard]] constexpr Slot result_slot(const Op& op) {
  return static_cast<Slot>(op.aux >> 12 & 0xf);
}

// Whether every living lane that is named executes this. `members` holds one mask per lane. Raises
// absent_lane if an executing lane is not named by its own mask, or disagrees with a lane it names.
// Lanes that have exited, or that a block with a partial last warp never had, may be named.
[[nodiscard]] bool all_members_here(const Warp& warp, const Op& op, std::uint32_t mask,
                                    const std::uint32_t* members);

// Not all are here: those in `mask` wait for the others, and execute it with them. Returns the next
// pc. PTX asks that all named lanes execute the same instruction with the same mask, not at the
// same place.
std::int32_t wait_for_members(Warp& warp, const Op& op, std::uint32_t mask);

// The same of the running lanes at an instruction that all lanes execute, at one place.
std::int32_t wait_for_all_lanes(Warp& warp, const Op& op);

// Some lanes wait at a warp-wide instruction.
[[nodiscard]] bool waits_for_members(const Warp& warp);

// No lane can run, and some wait for members: lets those go on that wait at a join, since they may
// come to the same instruction further on, or raises absent_lane.
[[nodiscard]] std::int32_t look_for_members(Warp& warp);

// `lanes` have exited: nobody waits for them, unless they went past those who do, which is
// absent_lane. Lanes that returned early may be named.
void stop_waiting_for(Warp& warp, std::uint32_t lanes);

}  // namespace cudaopt::sim

// Executes one warp-wide instruction for lanes that reached it on several paths, at several places
// in the code: in a place of its own, where the operands of all of them are brought together.
#pragma once

#include <array>
#include <cstdint>

#include "sim/machine.hpp"

namespace cudaopt::sim {

// Splits of a warp that wait at the same warp-wide instruction.
struct JointPaths {
  std::array<std::int32_t, kLanes> index{};  // in Warp::splits, ascending
  std::size_t count = 0;
  std::uint32_t lanes = 0;

  void add(std::int32_t split, std::uint32_t mask) {
    index[count++] = split;
    lanes |= mask;
  }
};

// Each of the paths stands before its own copy of the instruction, and stays there.
void execute_together(Warp& warp, const JointPaths& paths);

}  // namespace cudaopt::sim

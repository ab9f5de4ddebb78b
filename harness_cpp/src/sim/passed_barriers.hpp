// Which exits of a kernel lie behind a barrier: whoever leaves there without having executed it
// with the others has gone past it.
//
// A thread that returns early has not: `if (i >= n) return;` before a barrier is common, and
// hardware since Volta waits for the other threads alone. Both look the same at run time, so the
// code decides: an exit lies behind a barrier if every thread that executes the barrier and does
// not return early comes through the exit's block, and none comes to the barrier from there. A
// block that holds nothing but the return counts as the one before it.
//
// Of ends as in kernel_ends.hpp it is not certain. Whoever comes to one without the barrier is
// taken to have returned early, unless a thread behind the barrier reads what that one wrote to
// shared memory: a barrier orders those who come to it, and the reader relies on it
// (left_behind.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/control_flow.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

// `meeting` and `returning` are of reconvergence.hpp, `ends` of kernel_ends.hpp; `code` is decoded
// from the function alone.
[[nodiscard]] std::vector<Passing> passed_barriers(const ptx::ControlFlow& flow,
                                                   const std::vector<std::int32_t>& meeting,
                                                   const std::vector<bool>& returning,
                                                   const std::vector<bool>& ends,
                                                   const std::vector<Op>& code);

}  // namespace cudaopt::sim

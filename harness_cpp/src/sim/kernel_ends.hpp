// Blocks of a kernel that are nothing but its end: to come there is to return.
//
// Beside the block that holds only the return these are ends the compiler made of two:
// `if (i >= n) { y[i] = 0; return; } ... __syncthreads(); ... y[i] = v;` becomes one store of a
// register that has another value on each way. The code is then the same as that of
// `v = 0; if (i < n) { ... __syncthreads(); ... } y[i] = v;`, which goes past the barrier; of the
// two, this takes the former.
#pragma once

#include <vector>

#include "ptx/control_flow.hpp"

namespace cudaopt::sim {

// By block. `returning` is of reconvergence.hpp.
[[nodiscard]] std::vector<bool> kernel_ends(const ptx::Function& function,
                                            const ptx::ControlFlow& flow,
                                            const std::vector<bool>& returning);

}  // namespace cudaopt::sim

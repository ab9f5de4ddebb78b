// Where lanes that parted at a branch meet again. Returning lanes never arrive anywhere, so paths
// that only return are left out: code after `if (x) return;` runs for the remaining lanes together.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/control_flow.hpp"

namespace cudaopt::sim {

// True for blocks that hold one unguarded `ret` or `exit` and nothing else.
[[nodiscard]] std::vector<bool> returning_blocks(const ptx::Function& function,
                                                 const ptx::ControlFlow& flow);

// By block: the block where the lanes that leave it on different ways meet, or ptx::kExit.
[[nodiscard]] std::vector<std::int32_t> meeting_blocks(const ptx::Function& function,
                                                       const ptx::ControlFlow& flow);

}  // namespace cudaopt::sim

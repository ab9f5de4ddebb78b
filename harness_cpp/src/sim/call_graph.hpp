// Which functions an entry may call.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/module.hpp"

namespace cudaopt::sim {

// The function's name or, for a call through a pointer, "".
[[nodiscard]] std::string_view called_name(const ptx::Instruction& call);

// All with a body that calls of `entry` reach, in the module's order. A call through a pointer
// reaches every function whose address the module mentions.
[[nodiscard]] std::vector<const ptx::Function*> functions_reached(const ptx::Module& module,
                                                                  const ptx::Function& entry);

}  // namespace cudaopt::sim

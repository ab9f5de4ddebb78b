// Decides whether a kernel's result can depend on the order in which its blocks run.
#pragma once

#include <vector>

#include "ptx/module.hpp"

namespace cudaopt::sim {

// True for kernels that add floats atomically, use what an atomic returns, mix atomic operations,
// or read what other blocks may be writing. They run on one worker, block after block.
[[nodiscard]] bool depends_on_block_order(const std::vector<const ptx::Function*>& functions);

// By register index, whether any instruction reads it.
[[nodiscard]] std::vector<bool> registers_read(const ptx::Function& function);

// Whether anything reads what this `atom` returns.
[[nodiscard]] bool result_is_used(const ptx::Instruction& atomic, const std::vector<bool>& read);

}  // namespace cudaopt::sim

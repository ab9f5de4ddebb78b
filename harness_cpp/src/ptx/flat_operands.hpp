// The values of an operand one by one.
#pragma once

#include <vector>

#include "ptx/module.hpp"

namespace cudaopt::ptx {

// Appends them to `into`: vectors spread to their elements; labels are no values.
void flatten(const Operand& operand, std::vector<const Operand*>& into);

}  // namespace cudaopt::ptx

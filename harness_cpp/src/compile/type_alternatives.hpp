// The types that a parameter, a member or an element may have, the usual one first.
#pragma once

#include <string>
#include <vector>

namespace cudaopt::compile {

using TypeAlternatives = std::vector<std::string>;

// "'const float*' or 'float*'". Two are named: the rest are vectors of the same elements.
[[nodiscard]] std::string quoted(const TypeAlternatives& types);

}  // namespace cudaopt::compile

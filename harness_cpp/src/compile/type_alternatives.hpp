// The types that a parameter, a member or an element may have, the usual one first.
#pragma once

#include <string>
#include <vector>

namespace cudaopt::compile {

using TypeAlternatives = std::vector<std::string>;

// `types`, and behind them pointers to CUDA's vectors of the same elements: "const float4*".
[[nodiscard]] TypeAlternatives with_vectors(const TypeAlternatives& types);

// C++ that declares those of the classes in `types` that a header of CUDA defines.
[[nodiscard]] std::string declarations_of_classes(const TypeAlternatives& types);

// "'const float*' or 'float*'".
[[nodiscard]] std::string quoted(const TypeAlternatives& types);

}  // namespace cudaopt::compile

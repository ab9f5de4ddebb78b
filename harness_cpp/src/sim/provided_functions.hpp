// Functions a module declares and the driver provides: printf, failed assertions.
#pragma once

#include <cstddef>
#include <string_view>

#include "sim/machine.hpp"

namespace cudaopt::sim {

struct ProvidedFunction {
  std::string_view name;
  std::size_t arguments = 0;
  // src[k] is the first word of argument k, dst[0] that of the result.
  Handler handler = nullptr;
};

// nullptr: none of that name.
[[nodiscard]] const ProvidedFunction* provided_function(std::string_view name);

}  // namespace cudaopt::sim

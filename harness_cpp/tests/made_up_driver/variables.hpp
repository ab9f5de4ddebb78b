// The __constant__ and __device__ variables of a module: those of a cubin, or what a text says in
// lines "variable NAME BYTES".
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "result.hpp"

namespace made_up {

struct Variable {
  std::uint64_t bytes = 0;
  DevicePointer pointer = 0;  // 0 for one without bytes
};
using Variables = std::map<std::string, Variable>;

// Makes them, with some bytes in them.
[[nodiscard]] Variables make_variables(const std::string& image);
void remove_variables(const Variables& variables);

}  // namespace made_up

// The "structs" and "symbols" of a module: how its types and variables are declared to be.
#pragma once

#include "protocol/request.hpp"

namespace cudaopt::protocol {

// Reads both keys of `module`, where they are.
void parse_layouts(Object& module, ModuleSpec& spec);

}  // namespace cudaopt::protocol

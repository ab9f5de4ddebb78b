// Gives a decoded program its shadow: which registers have one, and which instructions keep it.
// Instructions that touch no float, and depend on none, stay as they are.
#pragma once

#include "sim/program.hpp"
#include "sim/shadow.hpp"

namespace cudaopt::sim {

// Replaces handlers in `program.code` and fills `program.shadow`; no shadow if there are no floats.
void add_shadow(Program& program, BindShadow bind);

}  // namespace cudaopt::sim

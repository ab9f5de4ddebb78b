// From a parsed entry to the instructions the executor dispatches.
#pragma once

#include "ptx/module.hpp"
#include "sim/module_image.hpp"
#include "sim/ops.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

// `bind` is the table of the instruction set the handlers run on. The program points into `image`,
// which must outlive it. Instructions nobody binds become ops that raise when they are reached.
[[nodiscard]] Program decode(const ModuleImage& image, const ptx::Function& function, Bind bind,
                             Watch watch = Watch::nothing);

}  // namespace cudaopt::sim

// Loads from shared memory whose shadow needs no comparison with the bits that are there.
#pragma once

#include <vector>

#include "sim/program.hpp"
#include "sim/shadow.hpp"
#include "sim/shadow_rule.hpp"

namespace cudaopt::sim {

// Where nothing but stores of f32 writes shared memory, its cells are those of the bits there.
// `rules` by instruction; the ops of `plan` are complete.
void mark_current_loads(const Program& program, const std::vector<DescribedRule>& rules,
                        ShadowPlan& plan);

}  // namespace cudaopt::sim

// The handlers that keep the shadow, by family. `nullptr`: not of this family.
#pragma once

#include "sim/shadow.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// Sums to tangents: ops_shadow_arithmetic.cpp
Handler bind_shadow_arithmetic(const ShadowOp& how);
// Between formats, from and to integers, comparisons and what follows from them:
// ops_shadow_convert.cpp
Handler bind_shadow_conversion(const ShadowOp& how);
// mov, packing, shuffles: ops_shadow_move.cpp
Handler bind_shadow_move(const ShadowOp& how);
// ld and st: ops_shadow_memory.cpp
Handler bind_shadow_memory(const ShadowOp& how);
// atom and red of floats: ops_shadow_atomic.cpp
Handler bind_shadow_atomic(const ShadowOp& how);

}  // namespace cudaopt::sim::CUDAOPT_ISA

// Loads that the compiler may have moved in front of the condition they are under in the source:
// `n == 4 && kept[3] > x` becomes an unconditional load whose value is thrown away where n is less.
// It does so where it knows that the address is good: variables, not pointers.
#pragma once

#include <cstdint>

#include "ptx/module.hpp"

namespace cudaopt::sim {

// Whether the instruction is a load from a fixed place in a variable, and its value is only ever
// chosen by a select or combined with another condition. What such a load finds is no finding; so
// `ready && flag` without a barrier before it is one that goes unseen.
[[nodiscard]] bool may_be_speculated(const ptx::Function& function,
                                     const ptx::Instruction& instruction);

}  // namespace cudaopt::sim

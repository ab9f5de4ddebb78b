// Any function of three bits, given as a table of eight.
#pragma once

#include "sim/alu.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// `table` holds the result for each combination of one bit of a, b and c.
CUDAOPT_INLINE std::uint32_t three_input_logic(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                               std::uint32_t table) {
  std::uint32_t result = 0;
  for (std::uint32_t k = 0; k < 8; ++k) {
    const std::uint32_t holds =
        ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
    result |= holds & (0u - ((table >> k) & 1u));
  }
  return result;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

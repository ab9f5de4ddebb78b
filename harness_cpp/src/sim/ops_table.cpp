// Asks every family of instructions in turn.
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

std::optional<Binding> bind(const ptx::Function& function, const ptx::Instruction& instruction) {
  static constexpr Bind kFamilies[] = {bind_memory,  bind_move,    bind_float,   bind_integer,
                                       bind_bits,    bind_compare, bind_convert, bind_half,
                                       bind_control, bind_warp,    bind_atomic};
  for (const Bind family : kFamilies) {
    if (auto binding = family(function, instruction)) return binding;
  }
  return std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

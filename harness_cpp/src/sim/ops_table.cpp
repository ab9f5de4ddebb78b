// Asks every family of instructions in turn.
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

std::optional<Binding> bind(const ptx::Function& function, const ptx::Instruction& instruction,
                            Watch watch) {
  if (auto binding = bind_memory(function, instruction, watch)) return binding;
  if (auto binding = bind_atomic(function, instruction, watch)) return binding;
  using WatchingFamily =
      std::optional<Binding> (*)(const ptx::Function&, const ptx::Instruction&, Watch);
  static constexpr WatchingFamily kWatching[] = {bind_tile, bind_fragment, bind_copy, bind_bulk,
                                                 bind_phase};
  for (const WatchingFamily family : kWatching) {
    if (auto binding = family(function, instruction, watch)) return binding;
  }
  using Family = std::optional<Binding> (*)(const ptx::Function&, const ptx::Instruction&);
  static constexpr Family kFamilies[] = {bind_parameter_words,
                                         bind_clock,
                                         bind_move,
                                         bind_float,
                                         bind_integer,
                                         bind_bits,
                                         bind_compare,
                                         bind_convert,
                                         bind_half,
                                         bind_control,
                                         bind_warp,
                                         bind_matrix,
                                         bind_hint};
  for (const Family family : kFamilies) {
    if (auto binding = family(function, instruction)) return binding;
  }
  return std::nullopt;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

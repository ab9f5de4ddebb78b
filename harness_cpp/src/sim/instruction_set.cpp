#include "sim/instruction_set.hpp"

namespace cudaopt::sim {

InstructionSet instruction_set(Isa isa) {
#ifdef CUDAOPT_HAVE_V3
  if (isa == Isa::v3) return {v3::bind, v3::run_slice, v3::bind_shadow};
#endif
  static_cast<void>(isa);  // without a second set there is nothing to choose
  return {baseline::bind, baseline::run_slice, baseline::bind_shadow};
}

}  // namespace cudaopt::sim

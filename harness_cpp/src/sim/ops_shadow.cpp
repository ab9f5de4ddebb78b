// Picks the handler that keeps the shadow of one instruction.
#include "sim/shadow_rules.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

Handler bind_shadow(const ShadowOp& how) {
  using Family = Handler (*)(const ShadowOp&);
  static constexpr Family kFamilies[] = {bind_shadow_arithmetic, bind_shadow_memory,
                                         bind_shadow_move, bind_shadow_conversion,
                                         bind_shadow_atomic};
  for (const Family family : kFamilies) {
    if (const Handler handler = family(how)) return handler;
  }
  return nullptr;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

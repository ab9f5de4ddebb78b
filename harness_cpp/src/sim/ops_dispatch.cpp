// The loop that runs one warp: fetch, apply the guard, execute.
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

std::uint32_t run_slice(Warp& warp, const Op* code, std::uint32_t limit, std::uint64_t* executed) {
  std::int32_t pc = warp.pc;
  std::uint32_t left = limit;
  std::uint64_t lanes_executed = 0;
  do {
    const Op& op = code[pc];
    ++executed[pc];
    std::uint32_t mask = warp.active;
    if (op.guard >= 0 && !op.is_branch) {
      const std::uint32_t predicate = warp.predicates[op.guard];
      mask &= op.guard_negated ? ~predicate : predicate;
      if (mask == 0) {
        ++pc;
        continue;
      }
    }
    lanes_executed += static_cast<std::uint32_t>(__builtin_popcount(mask));
    pc = (mask == kAllLanes ? op.full : op.masked)(warp, op, mask);
  } while (--left != 0 && warp.state == WarpState::running);
  warp.pc = pc;
  warp.counters->lane_instructions += lanes_executed;
  return limit - left;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

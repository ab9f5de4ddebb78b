// What the handlers of warp-wide instructions have in common. Included by ops files only.
#pragma once

#include "sim/alu.hpp"
#include "sim/block_watch.hpp"
#include "sim/members.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// The member masks, one per lane; instructions without .sync speak for the lanes that execute them.
struct Members {
  std::uint32_t masks[kLanes];
  bool all_here = true;

  Members(Warp& warp, const Op& op, std::uint32_t mask, int source) {
    if (source < 0) {
      for (std::uint32_t& each : masks) each = mask;
      return;
    }
    const Source<std::uint32_t> written(warp, op, source);
    for (int i = 0; i < kLanes; ++i) masks[i] = written[i];
    all_here = all_members_here(warp, op, mask, masks);
    if (all_here && warp.launch->watch != nullptr) warp.block->watch->warp_met(warp, mask);
    for (std::uint32_t& each : masks) each &= mask;
  }
};

[[nodiscard]] inline Binding warp_wide(Handler handler) {
  Binding binding;
  binding.full = binding.masked = handler;
  binding.latency = 25;
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

// Matrix tiles that a whole warp loads or stores: each row or piece counts as the access of one
// lane, between two points where all lanes meet. Included by the ops files only.
#pragma once

#include <cstdint>

#include "sim/block_watch.hpp"
#include "sim/scattered_access.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline void watch_rows(Warp& warp, const Op& op, ptx::Space space, const Addresses& addresses,
                       std::uint32_t mask, std::uint32_t bytes, AccessKind kind) {
  if (warp.launch->watch == nullptr) return;
  AccessShape shape;
  shape.element_bytes = bytes < 4 ? bytes : 4;
  shape.elements = bytes / shape.element_bytes;
  BlockWatch& watch = *warp.block->watch;
  watch.warp_met(warp, kAllLanes);
  watch.access({warp, op, mask, space, addresses.of, kind, shape});
  watch.warp_met(warp, kAllLanes);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

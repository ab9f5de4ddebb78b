// Accesses resolved lane by lane: windows of memory other than plain global and shared, lanes in
// several arrays, and all that ends in a fault. Included by the ops files only.
#pragma once

#include <cstdint>

#include "sim/access_cost.hpp"
#include "sim/block.hpp"
#include "sim/memory.hpp"
#include "sim/memory_form.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// Full addresses of the lanes, for what looks at them one by one.
struct Addresses {
  std::uint64_t of[kLanes];
};

template <class A>
[[gnu::noinline]] Addresses spread(const A* registers, std::int64_t displacement,
                                   std::uint32_t mask) {
  Addresses addresses{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    addresses.of[i] = static_cast<A>(registers[i] + static_cast<A>(displacement));
  }
  return addresses;
}

struct HostAddresses {
  std::uint8_t* of[kLanes];
};

[[gnu::noinline]] inline void count_scattered(Warp& warp, const Addresses& addresses,
                                              ptx::Space space, std::uint32_t mask,
                                              std::uint32_t bytes, AccessKind kind) {
  Counters& counters = *warp.counters;
  const std::uint64_t first = addresses.of[__builtin_ctz(mask)];
  if (space == ptx::Space::none) space = space_of_generic(first);
  if (space == ptx::Space::global) {
    const std::uint32_t sectors = count_sectors(addresses.of, mask, bytes);
    (kind == AccessKind::load ? counters.global_load_requests : counters.global_store_requests) +=
        1;
    (kind == AccessKind::load ? counters.global_load_sectors : counters.global_store_sectors) +=
        sectors;
  } else if (space == ptx::Space::shared) {
    counters.shared_requests += 1;
    counters.shared_wavefronts += count_wavefronts(addresses.of, mask, bytes);
  } else if (space == ptx::Space::local) {
    counters.local_requests += 1;
  }
}

// Checks every lane by itself; the lowest lane that may not access raises the fault.
[[gnu::noinline]] inline HostAddresses resolve_lanes(Warp& warp, const Op& op, ptx::Space space,
                                                     const Addresses& addresses, std::uint32_t mask,
                                                     std::uint32_t bytes, AccessKind kind) {
  HostAddresses host{};
  int previous = -1;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    const bool same = previous >= 0 && addresses.of[i] == addresses.of[previous] &&
                      space != ptx::Space::local && space != ptx::Space::none;
    host.of[i] =
        same ? host.of[previous] : resolve(warp, op, space, addresses.of[i], bytes, i, kind);
    previous = i;
  }
  count_scattered(warp, addresses, space, mask, bytes, kind);
  return host;
}

inline HostAddresses resolve_lanes(Warp& warp, const Op& op, const Addresses& addresses,
                                   std::uint32_t mask, std::uint32_t bytes, AccessKind kind) {
  return resolve_lanes(warp, op, space_of(op), addresses, mask, bytes, kind);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

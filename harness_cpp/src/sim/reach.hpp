// From a warp's address pattern to host memory: one check of bounds, alignment and permission for
// all lanes, and the cost of the access. Included by the ops files only.
#pragma once

#include <cstdint>

#include "sim/access_cost.hpp"
#include "sim/address_pattern.hpp"
#include "sim/block.hpp"
#include "sim/scattered_access.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// What differs between the two spaces that patterns serve. `reach` gives the host address of the
// first lane's access if every lane may make its own, else nullptr.
struct GlobalAccess {
  using Address = std::uint64_t;
  static constexpr std::uint32_t kPhases = 32;  // cost depends on the place within a sector

  template <std::uint32_t Bytes, bool Store>
  [[nodiscard]] static std::uint8_t* reach(const Warp& warp, const AddressPattern& pattern,
                                           Address address) {
    const Address lowest = address + static_cast<Address>(std::int64_t{pattern.lowest});
    const Address span =
        static_cast<Address>(std::int64_t{pattern.highest} - pattern.lowest) + Bytes;
    const Allocation& allocation = *allocation_of(*warp.launch, lowest);
    const Address at = lowest - allocation.base;
    if (span > allocation.bytes || at > allocation.bytes - span) return nullptr;
    if (((address | pattern.low_bits) & (Bytes - 1)) != 0) return nullptr;
    if (Store && allocation.read_only) return nullptr;
    return allocation.host + static_cast<std::int64_t>(address - allocation.base);
  }

  [[nodiscard]] static std::uint32_t cost(const Addresses& addresses, std::uint32_t mask,
                                          std::uint32_t bytes) {
    return count_sectors(addresses.of, mask, bytes);
  }

  template <bool Store>
  static void count(Counters& counters, std::uint32_t cost) {
    (Store ? counters.global_store_requests : counters.global_load_requests) += 1;
    (Store ? counters.global_store_sectors : counters.global_load_sectors) += cost;
  }
};

struct SharedAccess {
  using Address = std::uint32_t;
  static constexpr std::uint32_t kPhases = 4;  // cost depends on the place within a bank's word

  template <std::uint32_t Bytes, bool Store>
  [[nodiscard]] static std::uint8_t* reach(const Warp& warp, const AddressPattern& pattern,
                                           Address address) {
    const std::int64_t lowest = std::int64_t{address} + pattern.lowest;
    const std::int64_t end = std::int64_t{address} + pattern.highest + Bytes;
    if (lowest < 0 || end > warp.block->shared_bytes) return nullptr;
    if (((address | pattern.low_bits) & (Bytes - 1)) != 0) return nullptr;
    return warp.block->shared + address;
  }

  [[nodiscard]] static std::uint32_t cost(const Addresses& addresses, std::uint32_t mask,
                                          std::uint32_t bytes) {
    return count_wavefronts(addresses.of, mask, bytes);
  }

  template <bool Store>
  static void count(Counters& counters, std::uint32_t cost) {
    counters.shared_requests += 1;
    counters.shared_wavefronts += cost;
  }
};

// Looks at the addresses of this execution: afterwards the pattern is known, and its cost at this
// place. False: no pattern describes them.
template <class Space, std::uint32_t Bytes>
[[nodiscard, gnu::noinline]] bool prepare(Warp& warp, const Op& op, std::uint32_t mask) {
  using Address = typename Space::Address;
  AddressPattern& pattern = warp.block->patterns[op.memo];
  const auto* addresses = lanes<Address>(warp, op.src[0]);
  const Address first = addresses[__builtin_ctz(mask)];
  if (!is_known<false>(warp, op, pattern, addresses, first, mask)) {
    learn(pattern, addresses, mask, __builtin_ctz(Bytes));
    pattern.owner = warp.index;
  }
  if (pattern.kind == PatternKind::far) return false;
  std::uint8_t& cost = pattern.cost[(first + static_cast<Address>(op.imm)) % Space::kPhases];
  if (cost == 0) {
    cost = static_cast<std::uint8_t>(Space::cost(spread(addresses, op.imm, mask), mask, Bytes));
  }
  return true;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

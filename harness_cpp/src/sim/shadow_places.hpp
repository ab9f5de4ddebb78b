// Where the cells of a warp's accesses to memory are. Included by the ops files only.
#pragma once

#include "sim/launch_shadow.hpp"
#include "sim/memory.hpp"
#include "sim/shadow_lanes.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// Where the first byte of a lane's access lies among cells; nullptr: memory without any.
struct Place {
  const ShadowCells* cells = nullptr;
  std::uint64_t byte = 0;
};

inline Place place_in_global(const Warp& warp, std::uint64_t address) {
  const Allocation* allocation = allocation_of(*warp.launch, address);
  const auto index = static_cast<std::size_t>(allocation - warp.launch->allocations);
  const ShadowCells& cells = warp.launch->shadow->cells_of(index);
  if (cells.count == 0) return {};
  return {&cells, address - allocation->base};
}

inline Place place_of(const Warp& warp, ptx::Space space, std::uint64_t address, int lane) {
  if (space == ptx::Space::none) {
    space = space_of_generic(address);
    if (space != ptx::Space::global) address &= 0xffffffffu;  // windows start at multiples of 2^32
  }
  const BlockShadow& block = *warp.shadow->block;
  switch (space) {
    case ptx::Space::global:
      return place_in_global(warp, address);
    case ptx::Space::shared:
      return block.shared.count == 0 ? Place{} : Place{&block.shared, address};
    case ptx::Space::local: {
      const std::uint64_t thread = warp.index * kLanes + static_cast<std::uint64_t>(lane);
      return {&block.local, thread * warp.block->local_bytes + address};
    }
    default:
      return {};
  }
}

// The addresses before the instruction, which may overwrite their register.
struct LaneAddresses {
  alignas(64) std::uint64_t of[kLanes];

  LaneAddresses() = default;
  LaneAddresses(Warp& warp, const Op& op) {
    const auto displacement = static_cast<std::uint64_t>(op.imm);
    if (op.address == Slot::b64) {
      const auto* base = lanes<std::uint64_t>(warp, op.src[0]);
      for (int i = 0; i < kLanes; ++i) of[i] = base[i] + displacement;
    } else if (op.address == Slot::b32) {
      const auto* base = lanes<std::uint32_t>(warp, op.src[0]);
      const auto narrow = static_cast<std::uint32_t>(displacement);
      for (int i = 0; i < kLanes; ++i) of[i] = static_cast<std::uint32_t>(base[i] + narrow);
    } else {
      for (std::uint64_t& address : of) address = displacement;
    }
  }
};

struct Places {
  const ShadowCells* cells[kLanes];
  std::uint64_t byte[kLanes];
  bool contiguous = false;  // all lanes in the cells of lane 0, `step` bytes apart
};

// A pattern that the instruction just repeated saves looking at every lane.
inline const AddressPattern* known_pattern(const Warp& warp, const Op& op, std::uint32_t mask) {
  if (op.memo < 0) return nullptr;
  const AddressPattern& pattern = warp.block->patterns[op.memo];
  return pattern.mask == mask && pattern.kind != PatternKind::far ? &pattern : nullptr;
}

[[gnu::noinline]] inline void find_places(const Warp& warp, const Op& op, const ShadowOp& how,
                                          const LaneAddresses& addresses, std::uint32_t mask,
                                          Places& places) {
  const int first = __builtin_ctz(mask);
  const Place place = place_of(warp, how.space, addresses.of[first], first);
  const AddressPattern* pattern = known_pattern(warp, op, mask);
  const bool together = pattern != nullptr && place.cells != &warp.shadow->block->local;
  if (!together) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int i = __builtin_ctz(rest);
      const Place each = place_of(warp, how.space, addresses.of[i], i);
      places.cells[i] = each.cells;
      places.byte[i] = each.byte;
    }
    return;
  }
  for (int i = 0; i < kLanes; ++i) {
    places.cells[i] = place.cells;
    places.byte[i] = place.byte + (addresses.of[i] - addresses.of[first]);
  }
  places.contiguous = mask == kAllLanes && pattern->kind == PatternKind::contiguous;
}

// The bits of number `e` of a register, as cells remember them.
CUDAOPT_INLINE void raw_bits(Warp& warp, std::int32_t slot, Numbers numbers, int e,
                             std::uint32_t* out) {
  const std::uint32_t bits = bytes_of(numbers.format) * 8;
  const std::uint32_t all = bits == 32 ? ~0u : (1u << bits) - 1;
  const std::uint32_t shift = bits * static_cast<std::uint32_t>(e);
  if (bits * numbers.count > 32) {
    const auto* from = lanes<std::uint64_t>(warp, slot);
    for (int i = 0; i < kLanes; ++i) out[i] = static_cast<std::uint32_t>(from[i] >> shift) & all;
  } else {
    const auto* from = lanes<std::uint32_t>(warp, slot);
    for (int i = 0; i < kLanes; ++i) out[i] = (from[i] >> shift) & all;
  }
}

CUDAOPT_INLINE std::uint8_t state_of(Number format) {
  const CellKind kind = format == Number::f32   ? CellKind::f32
                        : format == Number::f16 ? CellKind::f16
                                                : CellKind::bf16;
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(kind) << kKindShift);
}

inline constexpr std::uint8_t kKind = static_cast<std::uint8_t>(0xff << kKindShift);

CUDAOPT_INLINE std::uint8_t state_with(std::uint8_t state, const Taint& taints, int lane) {
  const std::uint32_t undecided = (taints.undecided >> lane) & 1,
                      reseeded = (taints.reseeded >> lane) & 1;
  return static_cast<std::uint8_t>(state | undecided * kUndecided | reseeded * kReseeded);
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

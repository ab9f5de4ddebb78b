// ld and st: loads take the cells whose bits are those in memory, stores write them.
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "sim/shadow_places.hpp"
#include "sim/shadow_rules.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// Whether 32 neighbouring cells all hold `bits` and this very state.
CUDAOPT_INLINE bool all_hold(const ShadowCells& cells, std::uint64_t first,
                             const std::uint32_t* bits, std::uint8_t state) {
  std::uint32_t differ = 0;
  for (int i = 0; i < kLanes; ++i) differ |= cells.bits[first + static_cast<unsigned>(i)] ^ bits[i];
  std::uint8_t states = 0;
  for (int i = 0; i < kLanes; ++i)
    states |= static_cast<std::uint8_t>(cells.states[first + static_cast<unsigned>(i)] ^ state);
  return (differ | states) == 0;
}

void take_cells(const Places& places, std::uint64_t offset, std::uint8_t state,
                const std::uint32_t* bits, std::uint32_t mask, double* out, Taint& taints) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (places.cells[i] == nullptr) continue;
    const ShadowCells& cells = *places.cells[i];
    const std::uint64_t at = (places.byte[i] + offset) / cells.cell_bytes;
    if (cells.bits[at] != bits[i] || (cells.states[at] & kKind) != state) continue;
    out[i] = cells.values[at];
    taints.undecided |= (cells.states[at] & kUndecided) != 0 ? kLaneBits[i] : 0u;
    taints.reseeded |= (cells.states[at] & kReseeded) != 0 ? kLaneBits[i] : 0u;
  }
}

void load_number(Warp& warp, const Op& op, const ShadowOp& how, const Places& places, int k, int e,
                 std::uint32_t mask, Taint& taints) {
  const auto element = static_cast<std::size_t>(k);
  Doubles out;
  numbers_of_bits(warp, op.dst[element], how.to, e, out.of);
  const std::uint32_t number = bytes_of(how.to.format);
  const std::uint64_t offset =
      static_cast<unsigned>(k) * how.element_bytes + static_cast<unsigned>(e) * number;
  const std::int32_t to = how.dst_cells[element] + to_number(warp, how.to, e);
  const ShadowCells* cells = places.cells[__builtin_ctz(mask)];
  if (cells != nullptr) {
    alignas(64) std::uint32_t bits[kLanes];
    raw_bits(warp, op.dst[element], how.to, e, bits);
    const std::uint8_t state = state_of(how.to.format);
    const bool neighbours =
        places.contiguous && how.elements * how.to.count == 1 && number == cells->cell_bytes;
    const std::uint64_t first = places.byte[0] / cells->cell_bytes;
    if (neighbours && all_hold(*cells, first, bits, state)) {
      write_cell(warp, to, cells->values + first, kAllLanes);
      return;
    }
    take_cells(places, offset, state, bits, mask, out.of, taints);
  }
  write_cell(warp, to, out.of, mask);
}

void write_bits(Warp& warp, const Op& op, const ShadowOp& how, std::size_t k, std::uint32_t mask) {
  for (int e = 0; e < how.to.count; ++e) {
    const std::int32_t to = how.dst_cells[k] + to_number(warp, how.to, e);
    if (mask == kAllLanes) {
      numbers_of_bits(warp, op.dst[k], how.to, e, cell(warp, to));
      continue;
    }
    Doubles bits;
    numbers_of_bits(warp, op.dst[k], how.to, e, bits.of);
    write_cell(warp, to, bits.of, mask);
  }
}

// Memory without cells: arrays the kernel only reads, constants.
[[gnu::noinline]] void load_bits(Warp& warp, const Op& op, const ShadowOp& how, Taint of_address,
                                 std::uint32_t mask) {
  for (std::size_t k = 0; k < how.elements; ++k) {
    if (how.dst_cells[k] >= 0) write_bits(warp, op, how, k, mask);
    if (how.dst_taints[k] != kNoTaint) write_taint(warp, how.dst_taints[k], of_address, mask);
  }
}

[[gnu::noinline]] void load_cells(Warp& warp, const Op& op, const ShadowOp& how,
                                  const LaneAddresses& addresses, Taint of_address,
                                  std::uint32_t mask) {
  const int first = __builtin_ctz(mask);
  if (known_pattern(warp, op, mask) != nullptr &&
      place_of(warp, how.space, addresses.of[first], first).cells == nullptr)
    return load_bits(warp, op, how, of_address, mask);
  Places places;
  find_places(warp, op, how, addresses, mask, places);
  for (int k = 0; k < static_cast<int>(how.elements); ++k) {
    const auto element = static_cast<std::size_t>(k);
    Taint taints = of_address;
    if (how.dst_cells[element] >= 0) {
      for (int e = 0; e < how.to.count; ++e) load_number(warp, op, how, places, k, e, mask, taints);
    }
    if (how.dst_taints[element] != kNoTaint)
      write_taint(warp, how.dst_taints[element], taints, mask);
  }
}

std::int32_t load(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const LaneAddresses addresses(warp, op);
  const Taint of_address = taint(warp, how.src_taints[0]);
  const std::int32_t next = execute(warp, op, how, mask);
  load_cells(warp, op, how, addresses, of_address, mask);
  return next;
}

// Four cells of each lane, to four registers.
CUDAOPT_INLINE void load_quads(const double* cells, const std::int32_t* delta, double* const* to) {
#if defined(__AVX2__)
  for (int i = 0; i < kLanes; i += 4) {
    const __m256d a = _mm256_loadu_pd(cells + (delta[i] >> 2)),
                  b = _mm256_loadu_pd(cells + (delta[i + 1] >> 2)),
                  c = _mm256_loadu_pd(cells + (delta[i + 2] >> 2)),
                  d = _mm256_loadu_pd(cells + (delta[i + 3] >> 2));
    const __m256d low_ab = _mm256_unpacklo_pd(a, b), high_ab = _mm256_unpackhi_pd(a, b),
                  low_cd = _mm256_unpacklo_pd(c, d), high_cd = _mm256_unpackhi_pd(c, d);
    _mm256_store_pd(to[0] + i, _mm256_permute2f128_pd(low_ab, low_cd, 0x20));
    _mm256_store_pd(to[1] + i, _mm256_permute2f128_pd(high_ab, high_cd, 0x20));
    _mm256_store_pd(to[2] + i, _mm256_permute2f128_pd(low_ab, low_cd, 0x31));
    _mm256_store_pd(to[3] + i, _mm256_permute2f128_pd(high_ab, high_cd, 0x31));
  }
#else
  for (int i = 0; i < kLanes; ++i) {
    for (int k = 0; k < 4; ++k) to[k][i] = cells[(delta[i] >> 2) + k];
  }
#endif
}

CUDAOPT_INLINE void load_current(const AddressPattern& pattern, const double* cells, int elements,
                                 double* const* to, std::uint32_t mask) {
  const std::int32_t* delta = pattern.expected;
  if (mask != kAllLanes) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int i = __builtin_ctz(rest);
      for (int k = 0; k < elements; ++k) to[k][i] = cells[(delta[i] >> 2) + k];
    }
  } else if (pattern.kind == PatternKind::broadcast) {
    for (int k = 0; k < elements; ++k) {
      const double value = cells[k];
      for (int i = 0; i < kLanes; ++i) to[k][i] = value;
    }
  } else if (elements == 1 && pattern.kind == PatternKind::contiguous) {
    std::memcpy(to[0], cells, kLanes * sizeof(double));
  } else if (elements == 4) {
    load_quads(cells, delta, to);
  } else {
    for (int i = 0; i < kLanes; ++i) {
      for (int k = 0; k < elements; ++k) to[k][i] = cells[(delta[i] >> 2) + k];
    }
  }
}

std::int32_t load_from_shared(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  alignas(64) std::uint32_t bases[kLanes];
  std::memcpy(bases, lanes<std::uint32_t>(warp, op.src[0]), sizeof bases);
  const Taint of_address = taint(warp, how.src_taints[0]);
  const std::int32_t next = execute(warp, op, how, mask);
  const BlockShadow& block = *warp.shadow->block;
  const AddressPattern* pattern = known_pattern(warp, op, mask);
  const auto displacement = static_cast<std::uint32_t>(op.imm);
  if (pattern == nullptr || block.shared_tainted) {
    LaneAddresses addresses;
    for (int i = 0; i < kLanes; ++i) addresses.of[i] = bases[i] + displacement;
    load_cells(warp, op, how, addresses, of_address, mask);
    return next;
  }
  const std::uint32_t first = bases[__builtin_ctz(mask)] + displacement;
  double* to[4];
  const int elements = static_cast<int>(how.elements);
  for (std::size_t k = 0; k < how.elements; ++k) to[k] = cell(warp, how.dst_cells[k]);
  load_current(*pattern, block.shared.values + first / 4, elements, to, mask);
  for (std::size_t k = 0; k < how.elements; ++k)
    write_taint(warp, how.dst_taints[k], of_address, mask);
  return next;
}

// Lanes in ascending order: of two that name one cell, the higher lane's stays, as in memory.
void put_cells(const Places& places, std::uint64_t offset, std::uint8_t state,
               const std::uint32_t* bits, std::uint32_t mask, const double* values,
               const Taint& taints) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    if (places.cells[i] == nullptr) continue;
    const ShadowCells& cells = *places.cells[i];
    const std::uint64_t at = (places.byte[i] + offset) / cells.cell_bytes;
    cells.values[at] = values[i];
    cells.bits[at] = bits[i];
    cells.states[at] = state_with(state, taints, i);
  }
}

void put_neighbours(const ShadowCells& cells, std::uint64_t first, std::uint8_t state,
                    const std::uint32_t* bits, const double* values, const Taint& taints) {
  std::memcpy(cells.values + first, values, kLanes * sizeof(double));
  std::memcpy(cells.bits + first, bits, kLanes * sizeof(std::uint32_t));
  if ((taints.undecided | taints.reseeded) == 0) {
    std::memset(cells.states + first, state, kLanes);
    return;
  }
  for (int i = 0; i < kLanes; ++i)
    cells.states[first + static_cast<unsigned>(i)] = state_with(state, taints, i);
}

std::int32_t store(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  const std::int32_t next = execute(warp, op, how, mask);
  const LaneAddresses addresses(warp, op);
  Places places;
  find_places(warp, op, how, addresses, mask, places);
  const ShadowCells* cells = places.cells[__builtin_ctz(mask)];
  const Numbers numbers = how.from;
  const std::uint32_t number = bytes_of(numbers.format);
  const std::uint8_t state = state_of(numbers.format);
  Doubles room;
  alignas(64) std::uint32_t bits[kLanes];
  for (int k = 0; k < static_cast<int>(how.elements); ++k) {
    const auto source = static_cast<std::size_t>(k) + 1;
    Taint taints = taint(warp, how.src_taints[source]);
    taints.undecided |= taint(warp, how.src_taints[0]).undecided | warp.shadow->undecided;
    if (((taints.undecided | taints.reseeded) & mask) != 0)
      warp.shadow->block->shared_tainted = true;
    for (int e = 0; e < numbers.count; ++e) {
      const double* values = shadow_source(warp, op, how, source, numbers, e, room);
      raw_bits(warp, op.src[source], numbers, e, bits);
      const std::uint64_t offset =
          static_cast<unsigned>(k) * how.element_bytes + static_cast<unsigned>(e) * number;
      const bool neighbours = places.contiguous && cells != nullptr &&
                              how.elements * numbers.count == 1 && number == cells->cell_bytes;
      if (neighbours) {
        put_neighbours(*cells, places.byte[0] / number, state, bits, values, taints);
      } else {
        put_cells(places, offset, state, bits, mask, values, taints);
      }
    }
  }
  return next;
}

}  // namespace

Handler bind_shadow_memory(const ShadowOp& how) {
  switch (how.rule) {
    case ShadowRule::load:
      return how.cells_are_current ? load_from_shared : load;
    case ShadowRule::store:
      return store;
    default:
      return nullptr;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

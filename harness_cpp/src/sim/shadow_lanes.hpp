// Cells, numbers and taints of one warp, for the handlers that keep the shadow. Included by the
// ops files only: everything here is compiled once per instruction set.
#pragma once

#include <cstring>

#include "sim/alu.hpp"
#include "sim/block.hpp"
#include "sim/half.hpp"
#include "sim/shadow.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

struct Doubles {
  alignas(64) double of[kLanes];
};

CUDAOPT_INLINE double* cell(Warp& warp, std::int32_t offset) {
  return static_cast<double*>(__builtin_assume_aligned(warp.shadow->cells + offset, 64));
}

// From the cell of a register's first number to that of its number `e`.
CUDAOPT_INLINE std::int32_t to_number(const Warp& warp, Numbers numbers, int e) {
  const std::uint32_t step = bytes_of(numbers.format) * 64 * warp.shadow->cells_per_word;
  return static_cast<std::int32_t>(step) * e;
}

template <class Decode>
CUDAOPT_INLINE void decode_halves(Warp& warp, std::int32_t slot, Numbers numbers, int e,
                                  double* out, Decode decode) {
  const int shift = 16 * e;
  if (numbers.count > 2) {
    const auto* from = lanes<std::uint64_t>(warp, slot);
    for (int i = 0; i < kLanes; ++i)
      out[i] = decode(static_cast<std::uint32_t>(from[i] >> shift) & 0xffffu);
  } else {
    const auto* from = lanes<std::uint32_t>(warp, slot);
    for (int i = 0; i < kLanes; ++i) out[i] = decode((from[i] >> shift) & 0xffffu);
  }
}

CUDAOPT_INLINE void decode_singles(Warp& warp, std::int32_t slot, Numbers numbers, int e,
                                   double* out) {
  if (numbers.count > 1) {
    const auto* from = lanes<std::uint64_t>(warp, slot);
    for (int i = 0; i < kLanes; ++i)
      out[i] = bits_as<float>(static_cast<std::uint32_t>(from[i] >> (32 * e)));
  } else {
    const auto* from = lanes<std::uint32_t>(warp, slot);
    for (int i = 0; i < kLanes; ++i) out[i] = bits_as<float>(from[i]);
  }
}

// Number `e` of the register at `slot`, as its bits say.
CUDAOPT_INLINE void numbers_of_bits(Warp& warp, std::int32_t slot, Numbers numbers, int e,
                                    double* out) {
  switch (numbers.format) {
    case Number::f16:
      return decode_halves(warp, slot, numbers, e, out,
                           [](std::uint32_t half) -> double { return F16::decode(half); });
    case Number::bf16:
      return decode_halves(warp, slot, numbers, e, out,
                           [](std::uint32_t half) -> double { return Bf16::decode(half); });
    case Number::f64:
      std::memcpy(out, lanes<double>(warp, slot), kLanes * sizeof(double));
      return;
    default:
      return decode_singles(warp, slot, numbers, e, out);
  }
}

// Number `e` of source `k`: its cell, or what its bits say, written to `room`.
CUDAOPT_INLINE const double* shadow_source(Warp& warp, const Op& op, const ShadowOp& how,
                                           std::size_t k, Numbers numbers, int e, Doubles& room) {
  if (how.src_cells[k] >= 0) return cell(warp, how.src_cells[k] + to_number(warp, numbers, e));
  numbers_of_bits(warp, op.src[k], numbers, e, room.of);
  return room.of;
}

CUDAOPT_INLINE void write_cell(Warp& warp, std::int32_t offset, const double* from,
                               std::uint32_t mask) {
  double* to = cell(warp, offset);
  if (mask == kAllLanes) {
    std::memcpy(to, from, kLanes * sizeof(double));
    return;
  }
  for (int i = 0; i < kLanes; ++i) to[i] = (mask & kLaneBits[i]) != 0 ? from[i] : to[i];
}

CUDAOPT_INLINE Taint& taint(Warp& warp, std::int32_t index) { return warp.shadow->taints[index]; }

CUDAOPT_INLINE Taint source_taints(Warp& warp, const ShadowOp& how) {
  Taint all;
  for (const std::int32_t index : how.src_taints) {
    all.undecided |= taint(warp, index).undecided;
    all.reseeded |= taint(warp, index).reseeded;
  }
  return all;
}

CUDAOPT_INLINE void write_taint(Warp& warp, std::int32_t index, Taint fresh, std::uint32_t mask) {
  Taint& to = taint(warp, index);
  to.undecided = (to.undecided & ~mask) | (fresh.undecided & mask);
  to.reseeded = (to.reseeded & ~mask) | (fresh.reseeded & mask);
}

inline void write_taints(Warp& warp, const ShadowOp& how, Taint fresh, std::uint32_t mask) {
  for (const std::int32_t index : how.dst_taints) {
    if (index != kNoTaint) write_taint(warp, index, fresh, mask);
  }
}

// Lanes that a predicate stops, or lets go on, otherwise than float64 would: from here on all they
// do is undecided. Their lives after the paths meet again are included, which exempts too much
// rather than too little.
CUDAOPT_INLINE void follow_guard(Warp& warp, const ShadowOp& how) {
  if (how.guard_taint != kNoTaint)
    warp.shadow->undecided |= taint(warp, how.guard_taint).undecided & warp.active;
}

CUDAOPT_INLINE std::int32_t execute(Warp& warp, const Op& op, const ShadowOp& how,
                                    std::uint32_t mask) {
  return (mask == kAllLanes ? how.value_full : how.value_masked)(warp, op, mask);
}

// The results' shadows begin anew: what the bits say.
inline void reseed(Warp& warp, const Op& op, const ShadowOp& how, std::uint32_t mask) {
  Doubles room;
  for (std::size_t k = 0; k < how.dst_cells.size(); ++k) {
    if (how.dst_cells[k] < 0) continue;
    for (int e = 0; e < how.to.count; ++e) {
      numbers_of_bits(warp, op.dst[k], how.to, e, room.of);
      write_cell(warp, how.dst_cells[k] + to_number(warp, how.to, e), room.of, mask);
    }
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

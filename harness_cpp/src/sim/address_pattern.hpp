// Recognises the address pattern of a memory instruction. Included by the ops files only:
// everything here is compiled once per instruction set.
#pragma once

#include <cstdint>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "sim/block.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// Deltas of lanes that read one address, and of lanes `Bytes` apart.
struct RegularDeltas {
  alignas(64) std::int32_t broadcast[kLanes];
  alignas(64) std::int32_t contiguous[6][kLanes];  // by log2 of the bytes

  constexpr RegularDeltas() : broadcast{}, contiguous{} {
    for (int shift = 0; shift < 6; ++shift) {
      for (int i = 0; i < kLanes; ++i) contiguous[shift][i] = i << shift;
    }
  }
};
inline constexpr RegularDeltas kRegular;

#if defined(__AVX2__)
[[nodiscard]] inline bool repeats(const std::uint32_t* addresses, std::uint32_t first,
                                  const std::int32_t* expected) {
  const __m256i base = _mm256_set1_epi32(static_cast<std::int32_t>(first));
  __m256i differ = _mm256_setzero_si256();
  for (int i = 0; i < kLanes; i += 8) {
    const __m256i delta =
        _mm256_sub_epi32(_mm256_load_si256(reinterpret_cast<const __m256i*>(addresses + i)), base);
    differ = _mm256_or_si256(
        differ,
        _mm256_xor_si256(delta, _mm256_load_si256(reinterpret_cast<const __m256i*>(expected + i))));
  }
  return _mm256_testz_si256(differ, differ) != 0;
}

[[nodiscard]] inline bool repeats(const std::uint64_t* addresses, std::uint64_t first,
                                  const std::int32_t* expected) {
  const __m256i base = _mm256_set1_epi64x(static_cast<std::int64_t>(first));
  __m256i differ = _mm256_setzero_si256();
  for (int i = 0; i < kLanes; i += 4) {
    const __m256i delta =
        _mm256_sub_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(addresses + i)), base);
    const __m256i wanted =
        _mm256_cvtepi32_epi64(_mm_load_si128(reinterpret_cast<const __m128i*>(expected + i)));
    differ = _mm256_or_si256(differ, _mm256_xor_si256(delta, wanted));
  }
  return _mm256_testz_si256(differ, differ) != 0;
}
#else
// A: the type of an address register, 32 bits for shared memory and 64 for all other.
template <class A>
[[nodiscard]] inline bool repeats(const A* addresses, A first, const std::int32_t* expected) {
  A differ = 0;
  for (int i = 0; i < kLanes; ++i) {
    differ |= (addresses[i] - first) ^ static_cast<A>(static_cast<std::int64_t>(expected[i]));
  }
  return differ == 0;
}
#endif

template <class A>
[[nodiscard]] inline bool repeats_in(const std::uint32_t* in_mask, const A* addresses, A first,
                                     const std::int32_t* expected) {
  A differ = 0;
  for (int i = 0; i < kLanes; ++i) {
    const auto used = static_cast<std::int64_t>(static_cast<std::int32_t>(in_mask[i]));
    const A wanted = static_cast<A>(static_cast<std::int64_t>(expected[i]));
    differ |= ((addresses[i] - first) ^ wanted) & static_cast<A>(used);
  }
  return differ == 0;
}

[[nodiscard]] inline PatternKind classify(const AddressPattern& pattern, int shift) {
  bool contiguous = pattern.mask == kAllLanes, broadcast = true;
  for (int i = 0; i < kLanes; ++i) {
    if ((pattern.mask >> i & 1u) == 0) continue;
    contiguous = contiguous && pattern.delta[i] == kRegular.contiguous[shift][i];
    broadcast = broadcast && pattern.delta[i] == 0;
  }
  if (broadcast) return PatternKind::broadcast;
  return contiguous ? PatternKind::contiguous : PatternKind::general;
}

template <class A>
[[gnu::noinline]] void learn(AddressPattern& pattern, const A* addresses, std::uint32_t mask,
                             int shift) {
  const A first = addresses[__builtin_ctz(mask)];
  pattern.mask = mask;
  pattern.low_bits = 0;
  pattern.lowest = pattern.highest = 0;
  pattern.cost.fill(0);
  pattern.expected = pattern.delta;
  bool far = false;
  for (int i = 0; i < kLanes; ++i) {
    if ((mask >> i & 1u) == 0) continue;
    const A distance = addresses[i] - first;
    const auto delta = static_cast<std::int32_t>(distance);
    far = far || static_cast<A>(static_cast<std::int64_t>(delta)) != distance;
    pattern.delta[i] = delta;
    pattern.low_bits |= static_cast<std::uint32_t>(delta);
    pattern.lowest = delta < pattern.lowest ? delta : pattern.lowest;
    pattern.highest = delta > pattern.highest ? delta : pattern.highest;
  }
  pattern.kind = far ? PatternKind::far : classify(pattern, shift);
  if (far) pattern.mask = 0;  // to be looked at anew
  if (pattern.kind == PatternKind::broadcast) pattern.expected = kRegular.broadcast;
  if (pattern.kind == PatternKind::contiguous) pattern.expected = kRegular.contiguous[shift];
}

// Whether the lanes' addresses lie as they did when the pattern was learnt. What follows in the
// same basic block with the same base register need not be compared again, unless another warp ran
// here.
template <bool Full, class A>
[[nodiscard]] inline bool is_known(Warp& warp, const Op& op, AddressPattern& pattern,
                                   const A* addresses, A first, std::uint32_t mask) {
  if (pattern.mask != mask) return false;
  if (op.same_base && pattern.owner == warp.index) return true;
  const bool same = Full ? repeats(addresses, first, pattern.expected)
                         : repeats_in(lane_mask(warp, mask), addresses, first, pattern.expected);
  if (same) pattern.owner = warp.index;
  return same;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

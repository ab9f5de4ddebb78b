// Moves values between registers and memory for all lanes of a warp at once. Included by the ops
// files only: everything here is compiled once per instruction set.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include "sim/block.hpp"
#include "sim/memory_form.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// What a register lane holds for an element of type T.
template <class T>
using LaneOf = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

template <class T>
[[nodiscard]] inline T read_at(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
inline void write_at(std::uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

#if defined(__SSE2__)
// Four lanes read or write four words each: a 4x4 transpose in registers.
inline void load_quads(std::uint32_t* const* out, int lane, const std::uint8_t* const (&at)[4]) {
  __m128 a = _mm_loadu_ps(reinterpret_cast<const float*>(at[0]));
  __m128 b = _mm_loadu_ps(reinterpret_cast<const float*>(at[1]));
  __m128 c = _mm_loadu_ps(reinterpret_cast<const float*>(at[2]));
  __m128 d = _mm_loadu_ps(reinterpret_cast<const float*>(at[3]));
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_store_ps(reinterpret_cast<float*>(out[0] + lane), a);
  _mm_store_ps(reinterpret_cast<float*>(out[1] + lane), b);
  _mm_store_ps(reinterpret_cast<float*>(out[2] + lane), c);
  _mm_store_ps(reinterpret_cast<float*>(out[3] + lane), d);
}

inline void store_quads(const std::uint32_t* const* in, int lane, std::uint8_t* const (&at)[4]) {
  __m128 a = _mm_load_ps(reinterpret_cast<const float*>(in[0] + lane));
  __m128 b = _mm_load_ps(reinterpret_cast<const float*>(in[1] + lane));
  __m128 c = _mm_load_ps(reinterpret_cast<const float*>(in[2] + lane));
  __m128 d = _mm_load_ps(reinterpret_cast<const float*>(in[3] + lane));
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_storeu_ps(reinterpret_cast<float*>(at[0]), a);
  _mm_storeu_ps(reinterpret_cast<float*>(at[1]), b);
  _mm_storeu_ps(reinterpret_cast<float*>(at[2]), c);
  _mm_storeu_ps(reinterpret_cast<float*>(at[3]), d);
}
inline constexpr bool kQuads = true;
#else
inline void load_quads(std::uint32_t* const*, int, const std::uint8_t* const (&)[4]) {}
inline void store_quads(const std::uint32_t* const*, int, std::uint8_t* const (&)[4]) {}
inline constexpr bool kQuads = false;
#endif

// `host` is where the first lane's access starts. Every lane in `mask` has been checked.
template <class T, int N, bool Full>
inline void load_lanes(LaneOf<T>* const* out, const AddressPattern& pattern,
                       const std::uint8_t* host, const std::uint32_t* in_mask, std::uint32_t mask) {
  using Lane = LaneOf<T>;
  const std::int32_t* delta = pattern.expected;
  if (pattern.kind == PatternKind::broadcast) {
    for (int k = 0; k < N; ++k) {
      const Lane value = read_at<T>(host + k * sizeof(T));
      Lane* to = out[k];
      for (int i = 0; i < kLanes; ++i) to[i] = Full || in_mask[i] != 0 ? value : to[i];
    }
    return;
  }
  if constexpr (!Full) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int i = __builtin_ctz(rest);
      for (int k = 0; k < N; ++k) out[k][i] = read_at<T>(host + delta[i] + k * sizeof(T));
    }
  } else if constexpr (kQuads && N == 4 && sizeof(T) == 4) {
    for (int i = 0; i < kLanes; i += 4) {
      load_quads(out, i,
                 {host + delta[i], host + delta[i + 1], host + delta[i + 2], host + delta[i + 3]});
    }
  } else if (pattern.kind == PatternKind::contiguous) {
    if constexpr (N == 1 && sizeof(T) == sizeof(Lane)) {
      std::memcpy(out[0], host, kLanes * sizeof(T));
    } else {
      for (int i = 0; i < kLanes; ++i) {
        for (int k = 0; k < N; ++k) out[k][i] = read_at<T>(host + (i * N + k) * sizeof(T));
      }
    }
  } else {
    for (int i = 0; i < kLanes; ++i) {
      for (int k = 0; k < N; ++k) out[k][i] = read_at<T>(host + delta[i] + k * sizeof(T));
    }
  }
}

// Lanes store in ascending order: of two that name one address, the higher lane's value stays.
template <class T, int N, bool Full>
inline void store_lanes(const LaneOf<T>* const* in, const AddressPattern& pattern,
                        std::uint8_t* host, std::uint32_t mask) {
  const std::int32_t* delta = pattern.expected;
  if constexpr (!Full) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int i = __builtin_ctz(rest);
      for (int k = 0; k < N; ++k) {
        write_at(host + delta[i] + k * sizeof(T), static_cast<T>(in[k][i]));
      }
    }
  } else if constexpr (kQuads && N == 4 && sizeof(T) == 4) {
    for (int i = 0; i < kLanes; i += 4) {
      store_quads(in, i,
                  {host + delta[i], host + delta[i + 1], host + delta[i + 2], host + delta[i + 3]});
    }
  } else if (pattern.kind == PatternKind::contiguous) {
    if constexpr (N == 1 && sizeof(T) == sizeof(LaneOf<T>)) {
      std::memcpy(host, in[0], kLanes * sizeof(T));
    } else {
      for (int i = 0; i < kLanes; ++i) {
        for (int k = 0; k < N; ++k) {
          write_at(host + (i * N + k) * sizeof(T), static_cast<T>(in[k][i]));
        }
      }
    }
  } else {
    for (int i = 0; i < kLanes; ++i) {
      for (int k = 0; k < N; ++k) {
        write_at(host + delta[i] + k * sizeof(T), static_cast<T>(in[k][i]));
      }
    }
  }
}

// A loaded element of `extension` in its natural lanes `from`, sign- or zero-extended into `to`.
[[gnu::noinline]] inline void extend_lanes(Extension extension, const std::uint32_t* from,
                                           Warp& warp, std::int32_t to, std::uint32_t mask) {
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    const std::int32_t s8 = static_cast<std::int8_t>(from[i]);
    const std::int32_t s16 = static_cast<std::int16_t>(from[i]);
    const std::int64_t s32 = static_cast<std::int32_t>(from[i]);
    std::uint32_t* narrow = lanes<std::uint32_t>(warp, to) + i;
    std::uint64_t* wide = lanes<std::uint64_t>(warp, to) + i;
    switch (extension) {
      case Extension::none:
        *narrow = from[i];
        break;
      case Extension::s8_to_16:
        *narrow = static_cast<std::uint16_t>(s8);
        break;
      case Extension::s8_to_32:
        *narrow = static_cast<std::uint32_t>(s8);
        break;
      case Extension::s16_to_32:
        *narrow = static_cast<std::uint32_t>(s16);
        break;
      case Extension::to_64:
        *wide = from[i];
        break;
      case Extension::s8_to_64:
        *wide = static_cast<std::uint64_t>(std::int64_t{s8});
        break;
      case Extension::s16_to_64:
        *wide = static_cast<std::uint64_t>(std::int64_t{s16});
        break;
      case Extension::s32_to_64:
        *wide = static_cast<std::uint64_t>(s32);
        break;
    }
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

// The 64 bits of an mbarrier in shared memory. Their layout is the device's own business: kernels
// only pass them around.
#pragma once

#include <cstdint>

namespace cudaopt::sim {

struct Mbarrier {
  static constexpr std::uint64_t kInvalid = ~std::uint64_t{0};  // never written, or invalidated
  static constexpr std::uint32_t kMaxCount = (1u << 20) - 1;

  std::uint32_t pending = 0;   // arrivals the current phase still waits for
  std::uint32_t expected = 0;  // arrivals of the next phase
  std::int32_t bytes = 0;      // of asynchronous copies it waits for; below 0 when they came early
  std::uint32_t phase = 0;     // modulo 8

  [[nodiscard]] static Mbarrier initial(std::uint32_t count) { return {count, count, 0, 0}; }

  [[nodiscard]] static Mbarrier from_bits(std::uint64_t bits) {
    const auto field = [&](int shift, int width) {
      return static_cast<std::uint32_t>(bits >> shift & ((std::uint64_t{1} << width) - 1));
    };
    const auto bytes = static_cast<std::int32_t>(field(40, 21) << 11) >> 11;
    return {field(0, 20), field(20, 20), bytes, field(61, 3)};
  }

  [[nodiscard]] std::uint64_t bits() const {
    const std::uint64_t tx = static_cast<std::uint32_t>(bytes) & 0x1fffffu;
    return pending | std::uint64_t{expected} << 20 | tx << 40 | std::uint64_t{phase} << 61;
  }

  // What an operation leaves: when nobody and nothing is waited for, the next phase begins.
  [[nodiscard]] Mbarrier settled() const {
    if (pending != 0 || bytes != 0) return *this;
    return {expected, expected, 0, (phase + 1) & 7};
  }

  // Whether the phase in which an arrival returned these bits is over.
  [[nodiscard]] bool has_left(std::uint64_t state) const { return from_bits(state).phase != phase; }

  // Whether the last phase of this parity is over.
  [[nodiscard]] bool has_left_parity(std::uint32_t parity) const {
    return (phase & 1) != (parity & 1);
  }
};

}  // namespace cudaopt::sim

// Finds the instruction that loses most: where the relative error of a result exceeds that of the
// operands by most, as where nearly equal numbers are subtracted. Included by the ops files only.
#pragma once

#include <cmath>

#include "sim/shadow_lanes.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// Roundings of this size are what the format is like: 16 of its half-ulps.
CUDAOPT_INLINE double ordinary_error(Number format) {
  if (format == Number::f32) return 0x1p-20;
  return format == Number::f16 ? 0x1p-7 : 0x1p-4;
}

// Below it a format has fewer digits to begin with.
CUDAOPT_INLINE double least_normal(Number format) {
  return format == Number::f16 ? 0x1p-14 : 0x1p-126;
}

// Relative, at most 1: then no digit is left.
CUDAOPT_INLINE double relative_error(double value, double shadow, double least) {
  if (value == shadow) return 0;
  const double error = std::fabs(value - shadow) / (std::fabs(shadow) + least);
  return error < 1 ? error : 1;
}

// The registers an instruction is about to overwrite, whose old values its sources may be.
struct Overwritten {
  alignas(64) std::uint64_t of[kLanes];
  std::int32_t slot;
  std::size_t bytes;
  CUDAOPT_INLINE Overwritten(Warp& warp, std::int32_t at, Numbers numbers)
      : slot(at), bytes(bytes_of(numbers.format) * numbers.count > 4 ? 8 * kLanes : 4 * kLanes) {
    std::memcpy(of, lanes<std::uint8_t>(warp, at), bytes);
  }
};

// Operands and result of one instruction that is looked at.
struct LossOperands {
  const double* shadow[3];
  double value[3][kLanes];
  int count = 0;
};

[[gnu::noinline]] inline void note_loss(Warp& warp, const LossOperands& operands,
                                        const double* value, const double* shadow, Number format,
                                        std::uint32_t mask, LossCount& count) {
  const double ordinary = ordinary_error(format), least = least_normal(format);
  const std::uint64_t losing_before = count.losing_lanes;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    double before = 0, largest = 0;
    for (int k = 0; k < operands.count; ++k) {
      const double error = relative_error(operands.value[k][i], operands.shadow[k][i], least);
      before = error > before || error != error ? error : before;
      const double size = std::fabs(operands.shadow[k][i]);
      largest = size > largest ? size : largest;
    }
    // A result that float64 itself cannot tell from zero, like the correction of a compensated sum,
    // has no digits to lose.
    if (!(std::fabs(shadow[i]) > largest * 0x1p-30)) continue;
    Loss loss;
    loss.growth = relative_error(value[i], shadow[i], least) - before;
    if (!(loss.growth > ordinary)) continue;
    loss.value = value[i];
    loss.shadow = shadow[i];
    loss.block = warp.block->linear;
    loss.thread = warp.index * kLanes + static_cast<std::uint32_t>(i);
    if (loss.exceeds(count.worst)) count.worst = loss;
    count.growth += static_cast<std::uint64_t>(loss.growth * 0x1p32);
    ++count.losing_lanes;
  }
  count.losing += static_cast<std::uint32_t>(count.losing_lanes != losing_before);
}

// Whether some lane's error is so large that `note_loss` should look.
CUDAOPT_INLINE bool loses_more(const double* value, const double* shadow, Number format) {
  const double ordinary = ordinary_error(format), least = least_normal(format);
  int more = 0;
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) {
    const double size = std::fabs(shadow[i]) + least;
    more |= static_cast<int>(std::fabs(value[i] - shadow[i]) > ordinary * size);
  }
  return more != 0;
}

CUDAOPT_INLINE LossCount& loss_count(Warp& warp, const Op& op) {
  return warp.shadow->block->losses[static_cast<std::size_t>(op.pc)];
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

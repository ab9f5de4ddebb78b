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

CUDAOPT_INLINE double least_loss(const Warp& warp, Number format) {
  const double found = warp.shadow->block->worst.growth, ordinary = ordinary_error(format);
  return found > ordinary ? found : ordinary;
}

// Relative, at most 1: then no digit is left.
CUDAOPT_INLINE double relative_error(double value, double shadow) {
  if (value == shadow) return 0;
  const double error = std::fabs(value - shadow) / std::fabs(shadow);
  return error < 1 ? error : 1;
}

// The registers an instruction is about to overwrite, whose old values its sources may be.
struct Overwritten {
  alignas(64) std::uint32_t of[kLanes];
  std::int32_t slot;
  CUDAOPT_INLINE Overwritten(Warp& warp, std::int32_t at) : slot(at) {
    std::memcpy(of, lanes<std::uint32_t>(warp, at), sizeof of);
  }
};

struct LossOperands {
  const double* shadow[3];
  double value[3][kLanes];
};

[[gnu::noinline]] inline void note_loss(Warp& warp, const Op& op, const LossOperands& operands,
                                        int count, const double* value, const double* shadow,
                                        Number format, std::uint32_t mask) {
  const double ordinary = ordinary_error(format);
  Loss& worst = warp.shadow->block->worst;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int i = __builtin_ctz(rest);
    double before = 0, largest = 0;
    for (int k = 0; k < count; ++k) {
      const double error = relative_error(operands.value[k][i], operands.shadow[k][i]);
      before = error > before ? error : before;
      const double size = std::fabs(operands.shadow[k][i]);
      largest = size > largest ? size : largest;
    }
    // A result that float64 itself cannot tell from zero, like the correction of a compensated sum,
    // has no digits to lose.
    if (!(std::fabs(shadow[i]) > largest * 0x1p-40) || before != before) continue;
    Loss loss;
    loss.growth = relative_error(value[i], shadow[i]) - before;
    loss.value = value[i];
    loss.shadow = shadow[i];
    loss.pc = op.pc;
    loss.block = warp.block->linear;
    loss.thread = warp.index * kLanes + static_cast<std::uint32_t>(i);
    if (loss.growth > ordinary && loss.exceeds(worst)) worst = loss;
  }
}

// Whether some lane's error is so large that `note_loss` should look.
CUDAOPT_INLINE bool loses_more(const double* value, const double* shadow, double limit) {
  int more = 0;
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i)
    more |= static_cast<int>(std::fabs(value[i] - shadow[i]) > limit * std::fabs(shadow[i]));
  return more != 0;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

// Arithmetic on shadows: each float operation once more in float64, on the shadows of its operands.
// Where the code rounds on purpose (.rm, .rp, .rz, the addition of 1.5 * 2^23) the shadow begins
// anew from the value.
#include "sim/shadow_loss.hpp"
#include "sim/shadow_rules.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

struct Add {
  CUDAOPT_INLINE static double apply(double a, double b) { return a + b; }
};
struct Subtract {
  CUDAOPT_INLINE static double apply(double a, double b) { return a - b; }
};
struct Multiply {
  CUDAOPT_INLINE static double apply(double a, double b) { return a * b; }
};
struct Fused {
  CUDAOPT_INLINE static double apply(double a, double b, double c) {
    return __builtin_fma(a, b, c);
  }
};
struct Divide {
  CUDAOPT_INLINE static double apply(double a, double b) { return a / b; }
};
struct Reciprocal {
  CUDAOPT_INLINE static double apply(double a) { return 1 / a; }
};
struct SquareRoot {
  CUDAOPT_INLINE static double apply(double a) { return __builtin_sqrt(a); }
};
struct ReciprocalRoot {
  CUDAOPT_INLINE static double apply(double a) { return 1 / __builtin_sqrt(a); }
};
struct Sine {
  static double apply(double a) { return std::sin(a); }
};
struct Cosine {
  static double apply(double a) { return std::cos(a); }
};
struct PowerOfTwo {
  static double apply(double a) { return std::exp2(a); }
};
struct Logarithm {
  static double apply(double a) { return std::log2(a); }
};
struct Tangent {
  static double apply(double a) { return std::tanh(a); }
};
struct Negate {
  CUDAOPT_INLINE static double apply(double a) { return -a; }
};
struct Absolute {
  CUDAOPT_INLINE static double apply(double a) { return __builtin_fabs(a); }
};
struct CopySign {  // sign first, as PTX has it
  CUDAOPT_INLINE static double apply(double sign, double size) {
    return __builtin_copysign(size, sign);
  }
};
// The larger or smaller *shadow*, even where the values are the other way round: extremes are
// continuous, so that near ties change the result by no more than what was rounded.
struct Minimum {
  CUDAOPT_INLINE static double apply(double a, double b) {
    return b != b ? a : (a < b || a != a ? (a != a ? b : a) : b);
  }
};
struct Maximum {
  CUDAOPT_INLINE static double apply(double a, double b) {
    return b != b ? a : (a > b || a != a ? (a != a ? b : a) : b);
  }
};

template <class Operation, int N>
CUDAOPT_INLINE void compute(const double* const* x, double* out) {
#pragma GCC ivdep
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (N == 1) out[i] = Operation::apply(x[0][i]);
    if constexpr (N == 2) out[i] = Operation::apply(x[0][i], x[1][i]);
    if constexpr (N == 3) out[i] = Operation::apply(x[0][i], x[1][i], x[2][i]);
  }
}

[[gnu::noinline]] void clamp(const ShadowOp& how, double* x) {
  for (int i = 0; i < kLanes; ++i) {
    if (how.relu) x[i] = x[i] < 0 ? 0 : x[i];
    if (how.saturate) x[i] = saturate(x[i]);
  }
}

// The operands as values, after the instruction: those it overwrote come from `old`.
[[gnu::noinline]] void read_operands(Warp& warp, const Op& op, Numbers numbers, int e, int count,
                                     const Overwritten& old, LossOperands& operands) {
  operands.count = count;
  for (int k = 0; k < count; ++k) {
    const std::int32_t slot = op.src[static_cast<std::size_t>(k)];
    if (slot != old.slot) {
      numbers_of_bits(warp, slot, numbers, e, operands.value[k]);
      continue;
    }
    std::uint64_t now[kLanes];
    auto* at = lanes<std::uint8_t>(warp, slot);
    std::memcpy(now, at, old.bytes);
    std::memcpy(at, old.of, old.bytes);
    numbers_of_bits(warp, slot, numbers, e, operands.value[k]);
    std::memcpy(at, now, old.bytes);
  }
}

// Where an integer is left of the point, the shadow must round to the same one, or the code has
// decided otherwise. In between, directed rounding is about one ulp, which decides nothing.
[[gnu::noinline]] std::uint32_t rounded_otherwise(Rounding mode, const double* value,
                                                  const double* shadow) {
  std::uint32_t lanes_otherwise = 0;
  for (int i = 0; i < kLanes; ++i) {
    const double size = std::fabs(value[i]), gap = shadow[i] - value[i];
    if (!(size >= 0x1p22 && size < 0x1p24)) continue;
    const double ulp = size < 0x1p23 ? 0.5 : 1;
    const bool up = mode == Rounding::rp || (mode == Rounding::rz && value[i] < 0);
    const bool down = mode == Rounding::rm || (mode == Rounding::rz && value[i] > 0);
    bool same = std::fabs(gap) <= ulp / 2;
    if (up) same = gap <= 0 && gap > -ulp;
    if (down) same = gap >= 0 && gap < ulp;
    lanes_otherwise |= same ? 0u : kLaneBits[i];
  }
  return lanes_otherwise;
}

template <int N>
CUDAOPT_INLINE Taint taints_of(Warp& warp, const ShadowOp& how) {
  Taint taints;
  for (std::size_t k = 0; k < N; ++k) {
    taints.undecided |= taint(warp, how.src_taints[k]).undecided;
    taints.reseeded |= taint(warp, how.src_taints[k]).reseeded;
  }
  return taints;
}

// Executes the instruction and looks at what its results lost.
template <int N>
[[gnu::noinline]] std::int32_t execute_and_look(Warp& warp, const Op& op, const ShadowOp& how,
                                                const double* const (*sources)[N],
                                                const Doubles* result, std::uint32_t decided,
                                                std::uint32_t mask) {
  const Overwritten old(warp, op.dst[0], how.from);
  const std::int32_t next = execute(warp, op, how, mask);
  LossCount& count = loss_count(warp, op);
  count.lanes += static_cast<std::uint32_t>(__builtin_popcount(mask));
  for (int e = 0; e < how.from.count; ++e) {
    Doubles value;
    numbers_of_bits(warp, op.dst[0], how.from, e, value.of);
    if (!loses_more(value.of, result[e].of, how.from.format)) continue;
    LossOperands operands;
    for (int k = 0; k < N; ++k) operands.shadow[k] = sources[e][k];
    read_operands(warp, op, how.from, e, N, old, operands);
    note_loss(warp, operands, value.of, result[e].of, how.from.format, mask & decided, count);
  }
  return next;
}

// Any numbers, with whatever modifiers.
template <class Operation, int N, bool kLooks>
std::int32_t arithmetic_on(Warp& warp, const Op& op, const ShadowOp& how, std::uint32_t mask) {
  Doubles room[2][N], result[2];
  const double* sources[2][N];
  const int count = how.from.count;
  int done = 0;
  do {  // at least once, as the compiler would not know of a for
    for (std::size_t k = 0; k < N; ++k)
      sources[done][k] = shadow_source(warp, op, how, k, how.from, done, room[done][k]);
    compute<Operation, N>(sources[done], result[done].of);
    if (how.saturate || how.relu) clamp(how, result[done].of);
  } while (++done < count);
  const Taint taints = taints_of<N>(warp, how);
  const std::int32_t next =
      kLooks ? execute_and_look<N>(warp, op, how, sources, result, ~taints.undecided, mask)
             : execute(warp, op, how, mask);
  for (int e = 0; e < count; ++e)
    write_cell(warp, how.dst_cells[0] + to_number(warp, how.from, e), result[e].of, mask);
  write_taint(warp, how.dst_taints[0], taints, mask);
  return next;
}

template <class Operation, int N>
std::int32_t arithmetic(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  return loss_count(warp, op).looks() ? arithmetic_on<Operation, N, true>(warp, op, how, mask)
                                      : arithmetic_on<Operation, N, false>(warp, op, how, mask);
}

template <class Operation, int N>
[[gnu::noinline]] std::int32_t looked_at(Warp& warp, const Op& op, const ShadowOp& how,
                                         std::uint32_t mask) {
  return arithmetic_on<Operation, N, true>(warp, op, how, mask);
}

// One f32 without modifiers, by far the most frequent: straight into its cell.
template <class Operation, int N>
std::int32_t plain_arithmetic(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  if (loss_count(warp, op).looks()) return looked_at<Operation, N>(warp, op, how, mask);
  Doubles room[N];
  const double* sources[N];
  for (std::size_t k = 0; k < N; ++k) {
    sources[k] = how.src_cells[k] >= 0 ? cell(warp, how.src_cells[k]) : room[k].of;
    if (how.src_cells[k] < 0) numbers_of_bits(warp, op.src[k], {Number::f32, 1}, 0, room[k].of);
  }
  const Taint taints = taints_of<N>(warp, how);
  if (mask == kAllLanes) {
    compute<Operation, N>(sources, cell(warp, how.dst_cells[0]));
  } else {
    Doubles result;
    compute<Operation, N>(sources, result.of);
    write_cell(warp, how.dst_cells[0], result.of, mask);
  }
  write_taint(warp, how.dst_taints[0], taints, mask);
  return execute(warp, op, how, mask);
}

// As above, but the shadow begins anew.
template <class Operation, int N>
std::int32_t rounding_on_purpose(Warp& warp, const Op& op, std::uint32_t mask) {
  const ShadowOp& how = shadow_of(warp, op);
  follow_guard(warp, how);
  Doubles room[N], result, value;
  const double* sources[N];
  for (std::size_t k = 0; k < N; ++k)
    sources[k] = shadow_source(warp, op, how, k, how.from, 0, room[k]);
  compute<Operation, N>(sources, result.of);
  Taint taints = source_taints(warp, how);
  const std::int32_t next = execute(warp, op, how, mask);
  numbers_of_bits(warp, op.dst[0], how.from, 0, value.of);
  if (how.from.format == Number::f32 && !how.saturate)
    taints.undecided |= rounded_otherwise(how.rounding, value.of, result.of);
  taints.reseeded = kAllLanes;
  reseed(warp, op, how, mask);
  write_taint(warp, how.dst_taints[0], taints, mask);
  return next;
}

template <class Operation, int N>
Handler rule(const ShadowOp& how) {
  if (how.on_purpose) return rounding_on_purpose<Operation, N>;
  const bool plain = how.from == Numbers{Number::f32, 1} && !how.saturate && !how.relu;
  return plain ? plain_arithmetic<Operation, N> : arithmetic<Operation, N>;
}

}  // namespace

Handler bind_shadow_arithmetic(const ShadowOp& how) {
  switch (how.rule) {
    case ShadowRule::add:
      return rule<Add, 2>(how);
    case ShadowRule::subtract:
      return rule<Subtract, 2>(how);
    case ShadowRule::multiply:
      return rule<Multiply, 2>(how);
    case ShadowRule::fused:
      return rule<Fused, 3>(how);
    case ShadowRule::divide:
      return rule<Divide, 2>(how);
    case ShadowRule::reciprocal:
      return rule<Reciprocal, 1>(how);
    case ShadowRule::square_root:
      return rule<SquareRoot, 1>(how);
    case ShadowRule::reciprocal_root:
      return arithmetic<ReciprocalRoot, 1>;
    case ShadowRule::sine:
      return arithmetic<Sine, 1>;
    case ShadowRule::cosine:
      return arithmetic<Cosine, 1>;
    case ShadowRule::power_of_two:
      return arithmetic<PowerOfTwo, 1>;
    case ShadowRule::logarithm:
      return arithmetic<Logarithm, 1>;
    case ShadowRule::tangent:
      return arithmetic<Tangent, 1>;
    case ShadowRule::negate:
      return arithmetic<Negate, 1>;
    case ShadowRule::absolute:
      return arithmetic<Absolute, 1>;
    case ShadowRule::copy_sign:
      return arithmetic<CopySign, 2>;
    case ShadowRule::minimum:
      return arithmetic<Minimum, 2>;
    case ShadowRule::maximum:
      return arithmetic<Maximum, 2>;
    default:
      return nullptr;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

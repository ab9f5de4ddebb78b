// f64 arithmetic: sums, products, extremes, signs.
#include "sim/directed.hpp"
#include "sim/families.hpp"
#include "sim/float_flags.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

struct Add {
  CUDAOPT_INLINE static double nearest(double a, double b) { return a + b; }
};
struct Subtract {
  CUDAOPT_INLINE static double nearest(double a, double b) { return a - b; }
};
struct Multiply {
  CUDAOPT_INLINE static double nearest(double a, double b) { return a * b; }
};
struct FusedMultiplyAdd {
  CUDAOPT_INLINE static double nearest(double a, double b, double c) {
    return __builtin_fma(a, b, c);
  }
};

template <class Operation, class... Doubles>
CUDAOPT_INLINE double plain(Doubles... x) {
  return canonical(Operation::nearest(x...));
}

CUDAOPT_INLINE double negate(double x) { return canonical(-x); }
CUDAOPT_INLINE double absolute(double x) { return canonical(magnitude(x)); }
CUDAOPT_INLINE double copy_sign(double sign, double size) { return with_sign_of(size, sign); }

template <bool kMaximum>
CUDAOPT_INLINE double plain_extreme(double a, double b) {
  return extreme<kMaximum>(a, b);
}

constexpr std::uint16_t kLatency = 8;

template <class Operation, class... Doubles>
Binding bind_rounded(Rounding rounding) {
  if (rounding == Rounding::none || rounding == Rounding::rn)
    return lanewise<plain<Operation, Doubles...>>(Pipe::fp64, kLatency);
  return lane_by_lane<directed<Operation, Doubles...>>(Pipe::fp64, kLatency,
                                                       direction_flags(rounding));
}

}  // namespace

std::optional<Binding> bind_double(const Form& form) {
  if (!form.only({})) return std::nullopt;
  switch (form.opcode) {
    case Opcode::add:
      return bind_rounded<Add, double, double>(form.rounding);
    case Opcode::sub:
      return bind_rounded<Subtract, double, double>(form.rounding);
    case Opcode::mul:
      return bind_rounded<Multiply, double, double>(form.rounding);
    case Opcode::fma:
    case Opcode::mad:
      return bind_rounded<FusedMultiplyAdd, double, double, double>(form.rounding);
    case Opcode::min:
      return lanewise<plain_extreme<false>>(Pipe::fp64, kLatency);
    case Opcode::max:
      return lanewise<plain_extreme<true>>(Pipe::fp64, kLatency);
    case Opcode::neg:
      return lanewise<negate>(Pipe::fp64, kLatency);
    case Opcode::abs:
      return lanewise<absolute>(Pipe::fp64, kLatency);
    case Opcode::copysign:
      return lanewise<copy_sign>(Pipe::integer, kLatency);
    default:
      return std::nullopt;
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

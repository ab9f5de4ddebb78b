// f64 arithmetic: sums, products, extremes, signs.
#include "sim/directed.hpp"
#include "sim/families.hpp"
#include "sim/float_flags.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

// `nan` lists the operands in the order in which their NaNs are kept, as an H200 does.
struct Add {
  CUDAOPT_INLINE static double nearest(double a, double b) { return a + b; }
  CUDAOPT_INLINE static double nan(double a, double b) { return first_nan(b, a); }
};
struct Subtract {
  CUDAOPT_INLINE static double nearest(double a, double b) { return a - b; }
  CUDAOPT_INLINE static double nan(double a, double b) { return first_nan(b, a); }
};
struct Multiply {
  CUDAOPT_INLINE static double nearest(double a, double b) { return a * b; }
  CUDAOPT_INLINE static double nan(double a, double b) { return first_nan(b, a); }
};
struct FusedMultiplyAdd {
  CUDAOPT_INLINE static double nearest(double a, double b, double c) {
    return __builtin_fma(a, b, c);
  }
  CUDAOPT_INLINE static double nan(double a, double b, double c) { return first_nan(b, c, a); }
};

template <class Operation, class... Doubles>
CUDAOPT_INLINE double plain(Doubles... x) {
  const double result = Operation::nearest(x...);
  return result != result ? Operation::nan(x...) : result;
}

// A NaN keeps its sign: the hardware does these by arithmetic.
CUDAOPT_INLINE double negate(double x) { return keeping_nan(-x, x); }
CUDAOPT_INLINE double absolute(double x) { return keeping_nan(magnitude(x), x); }
CUDAOPT_INLINE double copy_sign(double sign, double size) { return with_sign_of(size, sign); }

template <bool kMaximum>
CUDAOPT_INLINE double plain_extreme(double a, double b) {
  return keeping_nan(extreme<kMaximum>(a, b), b, a);
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

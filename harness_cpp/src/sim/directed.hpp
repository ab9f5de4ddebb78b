// Directed rounding of f64, rare enough to switch the processor's rounding mode for one operation.
#pragma once

#include <cfenv>

#include "sim/form.hpp"
#include "sim/rounding.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

inline Flags direction_flags(Rounding rounding) {
  switch (rounding) {
    case Rounding::rz:
      return Flags{FE_TOWARDZERO};
    case Rounding::rm:
      return Flags{FE_DOWNWARD};
    case Rounding::rp:
      return Flags{FE_UPWARD};
    default:
      return Flags{FE_TONEAREST};
  }
}

// The compiler does not know that the mode matters: volatile keeps the operation between the
// switches.
template <class Operation, class... Doubles>
double directed(Flags direction, Doubles... x) {
  struct Switch {
    explicit Switch(int mode) { std::fesetround(mode); }
    Switch(const Switch&) = delete;
    Switch& operator=(const Switch&) = delete;
    ~Switch() { std::fesetround(FE_TONEAREST); }
  };
  const auto hidden = [](double value) {
    volatile double stored = value;
    return static_cast<double>(stored);
  };
  volatile double result = 0;
  {
    const Switch switched(direction.bits);
    result = Operation::nearest(hidden(x)...);
  }
  const double rounded = result;
  return rounded != rounded ? Operation::nan(x...) : rounded;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

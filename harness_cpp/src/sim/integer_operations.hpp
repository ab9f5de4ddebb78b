// What integer instructions compute of one lane's operands. Included by ops files only.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/alu.hpp"

namespace cudaopt::sim::CUDAOPT_ISA::integer_operations {

// Unsigned and at least 32 bits wide, so that no intermediate overflows a signed type.
template <class T>
using Modular = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
template <class T>
CUDAOPT_INLINE Modular<T> modular(T value) {
  return static_cast<Modular<T>>(value);
}

template <class T>
struct TwiceAsWide;
template <>
struct TwiceAsWide<std::int16_t> {
  using Type = std::int32_t;
};
template <>
struct TwiceAsWide<std::uint16_t> {
  using Type = std::uint32_t;
};
template <>
struct TwiceAsWide<std::int32_t> {
  using Type = std::int64_t;
};
template <>
struct TwiceAsWide<std::uint32_t> {
  using Type = std::uint64_t;
};
template <>
struct TwiceAsWide<std::int64_t> {
  __extension__ typedef __int128 Type;
};
template <>
struct TwiceAsWide<std::uint64_t> {
  __extension__ typedef unsigned __int128 Type;
};
template <class T>
using Twice = typename TwiceAsWide<T>::Type;

struct Add {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>(modular(a) + modular(b));
  }
};

struct Subtract {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>(modular(a) - modular(b));
  }
};

CUDAOPT_INLINE std::int32_t saturate_s32(std::int64_t value) {
  value = value > INT32_MAX ? INT32_MAX : value;
  return static_cast<std::int32_t>(value < INT32_MIN ? INT32_MIN : value);
}

CUDAOPT_INLINE std::int32_t add_saturating(std::int32_t a, std::int32_t b) {
  return saturate_s32(std::int64_t{a} + b);
}

CUDAOPT_INLINE std::int32_t subtract_saturating(std::int32_t a, std::int32_t b) {
  return saturate_s32(std::int64_t{a} - b);
}

struct MultiplyLow {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>(modular(a) * modular(b));
  }
};

struct MultiplyHigh {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>((Twice<T>{a} * Twice<T>{b}) >> (8 * sizeof(T)));
  }
};

struct MultiplyWide {
  template <class T>
  CUDAOPT_INLINE static Twice<T> apply(T a, T b) {
    return static_cast<Twice<T>>(Twice<T>{a} * Twice<T>{b});
  }
};

struct MultiplyAddLow {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b, T c) {
    return static_cast<T>(modular(a) * modular(b) + modular(c));
  }
};

struct MultiplyAddHigh {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b, T c) {
    return Add::apply<T>(MultiplyHigh::apply<T>(a, b), c);
  }
};

struct MultiplyAddWide {
  template <class T>
  CUDAOPT_INLINE static Twice<T> apply(T a, T b, Twice<T> c) {
    return Add::apply<Twice<T>>(MultiplyWide::apply<T>(a, b), c);
  }
};

CUDAOPT_INLINE std::int32_t multiply_add_high_saturating(std::int32_t a, std::int32_t b,
                                                         std::int32_t c) {
  return saturate_s32(std::int64_t{MultiplyHigh::apply<std::int32_t>(a, b)} + c);
}

// The low 24 bits of both factors, sign- or zero-extended; `high` keeps bits 16 to 47.
template <class T>
CUDAOPT_INLINE Twice<T> product_of_24_bits(T a, T b) {
  const auto low = [](T value) {
    return static_cast<T>(static_cast<T>(static_cast<std::uint32_t>(value) << 8) >> 8);
  };
  return Twice<T>{low(a)} * Twice<T>{low(b)};
}

struct Multiply24Low {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>(product_of_24_bits(a, b));
  }
};

struct Multiply24High {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return static_cast<T>(product_of_24_bits(a, b) >> 16);
  }
};

struct MultiplyAdd24Low {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b, T c) {
    return Add::apply<T>(Multiply24Low::apply<T>(a, b), c);
  }
};

struct MultiplyAdd24High {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b, T c) {
    return Add::apply<T>(Multiply24High::apply<T>(a, b), c);
  }
};

CUDAOPT_INLINE std::int32_t multiply_add_24_high_saturating(std::int32_t a, std::int32_t b,
                                                            std::int32_t c) {
  return saturate_s32(std::int64_t{Multiply24High::apply<std::int32_t>(a, b)} + c);
}

struct Minimum {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return a < b ? a : b;
  }
};

struct Maximum {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return a > b ? a : b;
  }
};

// .relu: negative results become 0.
template <class Extreme>
struct Rectified {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b) {
    return Maximum::apply<T>(Extreme::template apply<T>(a, b), T{0});
  }
};

struct Negate {
  template <class T>
  CUDAOPT_INLINE static T apply(T a) {
    return static_cast<T>(0u - modular(a));
  }
};

struct Absolute {
  template <class T>
  CUDAOPT_INLINE static T apply(T a) {
    return a < 0 ? Negate::apply<T>(a) : a;
  }
};

struct SumOfDifference {
  template <class T>
  CUDAOPT_INLINE static T apply(T a, T b, T c) {
    const T low = a < b ? a : b;
    const T high = a < b ? b : a;
    return static_cast<T>(modular(high) - modular(low) + modular(c));
  }
};

// Both 16-bit halves of a register.
template <class Operation, class T>
CUDAOPT_INLINE std::uint32_t both_halves(std::uint32_t a, std::uint32_t b) {
  using Half = std::make_unsigned_t<T>;
  const auto low = Operation::template apply<T>(static_cast<T>(a), static_cast<T>(b));
  const auto high = Operation::template apply<T>(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
  return static_cast<Half>(low) | std::uint32_t{static_cast<Half>(high)} << 16;
}

constexpr std::uint16_t kSimple = 4, kProduct = 5, kWideProduct = 8;

}  // namespace cudaopt::sim::CUDAOPT_ISA::integer_operations

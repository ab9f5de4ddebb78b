// Matrices out of a warp's registers and back; matrix_form.hpp says how they lie there. Included by
// ops files only.
#pragma once

#include "sim/fp8.hpp"
#include "sim/matrix_form.hpp"
#include "sim/wide_operands.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {

// Element `i` of a register's word as a number. Products of these floats are exact in float.
template <class Half>
struct HalfOf {
  using Value = float;
  using Register = std::uint32_t;
  static constexpr int kCount = 2;
  CUDAOPT_INLINE static float at(std::uint32_t word, int i) {
    return Half::decode(word >> (16 * i) & 0xffffu);
  }
};

template <class Code>
struct CodeOf {
  using Value = float;
  using Register = std::uint32_t;
  static constexpr int kCount = 4;
  CUDAOPT_INLINE static float at(std::uint32_t word, int i) {
    return F16::decode(Code::to_f16(word >> (8 * i) & 0xffu));
  }
};

// The low 13 bits are not looked at.
struct Tf32Of {
  using Value = float;
  using Register = std::uint32_t;
  static constexpr int kCount = 1;
  CUDAOPT_INLINE static float at(std::uint32_t word, int) {
    return canonical(bits_as<float>((word & 0x7fffffffu) > 0x7f800000u ? word : word & ~0x1fffu));
  }
};

struct DoubleOf {
  using Value = double;
  using Register = std::uint64_t;
  static constexpr int kCount = 1;
  CUDAOPT_INLINE static double at(std::uint64_t word, int) { return bits_as<double>(word); }
};

template <int kBits, bool kSigned>
struct IntegerOf {
  using Value = std::int32_t;
  using Register = std::uint32_t;
  static constexpr int kCount = 32 / kBits;
  CUDAOPT_INLINE static std::int32_t at(std::uint32_t word, int i) {
    const std::uint32_t top = word << (32 - kBits - kBits * i);
    return kSigned ? static_cast<std::int32_t>(top) >> (32 - kBits)
                   : static_cast<std::int32_t>(top >> (32 - kBits));
  }
};

// Where element (outer, inner) of an operand goes in an array.
struct Steps {
  std::uint32_t outer = 0, inner = 0;
};

template <class Of>
[[gnu::noinline]] void gather_as(Warp& warp, const WideOperand* operands, std::uint32_t outer,
                                 std::uint32_t inner, typename Of::Value* to, Steps steps) {
  const std::uint32_t blocks = outer / 8, registers = outer * inner / (32 * Of::kCount);
  for (std::uint32_t r = 0; r < registers; ++r) {
    const auto words = lanes_of<typename Of::Register>(warp, operands[r]);
    typename Of::Value* piece =
        to + (r % blocks) * 8 * steps.outer + (r / blocks) * 4 * Of::kCount * steps.inner;
    for (int i = 0; i < Of::kCount; ++i) {
      typename Of::Value values[kLanes];
      for (int lane = 0; lane < kLanes; ++lane) values[lane] = Of::at(words[lane], i);
      for (std::uint32_t lane = 0; lane < kLanes; ++lane)
        piece[lane / 4 * steps.outer +
              (lane % 4 * Of::kCount + static_cast<std::uint32_t>(i)) * steps.inner] = values[lane];
    }
  }
}

inline void gather(Warp& warp, const WideOperand* operands, Element element, std::uint32_t outer,
                   std::uint32_t inner, float* to, Steps steps) {
  switch (element) {
    case Element::f16:
      return gather_as<HalfOf<F16>>(warp, operands, outer, inner, to, steps);
    case Element::bf16:
      return gather_as<HalfOf<Bf16>>(warp, operands, outer, inner, to, steps);
    case Element::e4m3:
      return gather_as<CodeOf<E4m3>>(warp, operands, outer, inner, to, steps);
    case Element::e5m2:
      return gather_as<CodeOf<E5m2>>(warp, operands, outer, inner, to, steps);
    default:
      return gather_as<Tf32Of>(warp, operands, outer, inner, to, steps);
  }
}

inline void gather(Warp& warp, const WideOperand* operands, Element, std::uint32_t outer,
                   std::uint32_t inner, double* to, Steps steps) {
  gather_as<DoubleOf>(warp, operands, outer, inner, to, steps);
}

inline void gather(Warp& warp, const WideOperand* operands, Element element, std::uint32_t outer,
                   std::uint32_t inner, std::int32_t* to, Steps steps) {
  switch (element) {
    case Element::s8:
      return gather_as<IntegerOf<8, true>>(warp, operands, outer, inner, to, steps);
    case Element::u8:
      return gather_as<IntegerOf<8, false>>(warp, operands, outer, inner, to, steps);
    case Element::s4:
      return gather_as<IntegerOf<4, true>>(warp, operands, outer, inner, to, steps);
    case Element::u4:
      return gather_as<IntegerOf<4, false>>(warp, operands, outer, inner, to, steps);
    default:
      return gather_as<IntegerOf<1, false>>(warp, operands, outer, inner, to, steps);
  }
}

// Place of the first of two neighbouring columns that `lane` holds of piece `block`.
CUDAOPT_INLINE std::uint32_t accumulator_place(const MatrixShape& shape, std::uint32_t block,
                                               std::uint32_t lane) {
  const std::uint32_t rows = shape.m / 8;
  return (block % rows * 8 + lane / 4) * shape.n + block / rows * 8 + lane % 4 * 2;
}

template <class T>
void gather_accumulator(Warp& warp, const WideOperand* operands, const MatrixShape& shape,
                        Element element, T* to) {
  for (std::uint32_t block = 0; block < shape.m * shape.n / 64; ++block) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      T* place = to + accumulator_place(shape, block, lane);
      if constexpr (std::is_same_v<T, float>) {
        if (element == Element::f16) {
          const std::uint32_t pair = lanes_of<std::uint32_t>(warp, operands[block])[lane];
          place[0] = F16::decode(low_half(pair));
          place[1] = F16::decode(high_half(pair));
          continue;
        }
      }
      place[0] = from_lane<T>(lanes_of<T>(warp, operands[2 * block])[lane]);
      place[1] = from_lane<T>(lanes_of<T>(warp, operands[2 * block + 1])[lane]);
    }
  }
}

// Tensor cores give no negative zeros.
CUDAOPT_INLINE std::uint32_t without_sign_of_zero(std::uint32_t half) {
  return half == 0x8000u ? 0u : half;
}

template <class T>
void scatter_accumulator(Warp& warp, const WideOperand* operands, const MatrixShape& shape,
                         Element element, const T* from) {
  for (std::uint32_t block = 0; block < shape.m * shape.n / 64; ++block) {
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      const T* place = from + accumulator_place(shape, block, lane);
      if constexpr (std::is_same_v<T, float>) {
        if (element == Element::f16) {
          lanes_of<std::uint32_t>(warp, operands[block])[lane] =
              pair_of(without_sign_of_zero(F16::encode(place[0])),
                      without_sign_of_zero(F16::encode(place[1])));
          continue;
        }
      }
      lanes_of<T>(warp, operands[2 * block])[lane] = to_lane(place[0]);
      lanes_of<T>(warp, operands[2 * block + 1])[lane] = to_lane(place[1]);
    }
  }
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

// What an mma or wmma instruction asks for, and how matrices lie in the registers of a warp.
// Compiled once, so that the op files, compiled twice, need no text handling of their own.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/module.hpp"

namespace cudaopt::sim {

enum class Element : std::uint8_t {
  f16,
  bf16,
  tf32,
  e4m3,
  e5m2,
  f64,
  s8,
  u8,
  s4,
  u4,
  b1,
  f32,
  s32
};

[[nodiscard]] constexpr std::uint32_t bits_of(Element element) {
  switch (element) {
    case Element::f64:
      return 64;
    case Element::tf32:
    case Element::f32:
    case Element::s32:
      return 32;
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::s4:
    case Element::u4:
      return 4;
    case Element::b1:
      return 1;
    default:
      return 8;
  }
}

struct MatrixShape {
  std::uint16_t m = 0, n = 0, k = 0;
};

// How two elements make a product: b1 matrices combine bits.
enum class Product : std::uint8_t { multiply, exclusive_or, both };

// mma.sync and wmma.mma: D = A*B + C.
struct MatrixForm {
  MatrixShape shape;
  Element a = Element::f16, b = Element::f16, c = Element::f32, d = Element::f32;
  Product product = Product::multiply;
  bool saturates = false;  // integers stop at the ends of s32
  // Registers per lane of each operand; those of wmma may hold every element more than once.
  std::uint8_t a_registers = 0, b_registers = 0, c_registers = 0, d_registers = 0;
};

// nullopt: a form this device does not know (sparse, block-scaled, other roundings …), or operands
// of another number.
[[nodiscard]] std::optional<MatrixForm> matrix_form(const ptx::Instruction& instruction);

inline constexpr std::uint32_t kMaxTileBytes = 2048;

// wmma.load and wmma.store.
struct TileForm {
  enum class Role : std::uint8_t { a, b, accumulator };
  Role role = Role::a;
  bool stores = false, column_major = false, has_stride = false;
  Element element = Element::f16;
  ptx::Space space = ptx::Space::none;  // none: generic
  std::uint16_t rows = 0, columns = 0;
  std::uint8_t registers = 0;  // per lane
};

[[nodiscard]] std::optional<TileForm> tile_form(const ptx::Instruction& instruction);

// A row of A or a column of B is `outer`, and `inner` counts along K. Lane l of a register of E
// elements holds, for each 8 rows and 4*E columns, row l/4 and the E columns from (l%4)*E on: the
// fragments of mma in the PTX manual. Those of wmma are nobody's business; they lie the same way.
[[nodiscard]] constexpr std::uint32_t elements_per_register(Element element) {
  return bits_of(element) >= 32 ? 1 : 32 / bits_of(element);
}

// Registers that hold an operand once.
[[nodiscard]] constexpr std::uint32_t operand_registers(Element element, std::uint32_t outer,
                                                        std::uint32_t inner) {
  return outer * inner / (32 * elements_per_register(element));
}

// Accumulators: two neighbouring columns per lane, f16 in one register, others in two.
[[nodiscard]] constexpr std::uint32_t accumulator_registers(Element element, std::uint32_t rows,
                                                            std::uint32_t columns) {
  return rows * columns / (element == Element::f16 ? 64 : 32);
}

}  // namespace cudaopt::sim

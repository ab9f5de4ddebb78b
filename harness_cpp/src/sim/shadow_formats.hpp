// Which registers of a function hold floats, and in which format: instructions that name a type
// say so, and what moves between registers carries it on. Newer front ends declare every register
// .b32 and load floats as bits, so no single instruction would do.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.hpp"
#include "sim/placed_operands.hpp"
#include "sim/shadow_rule.hpp"

namespace cudaopt::sim {

class ShadowFormats {
 public:
  // `rules` and `operands` by instruction.
  ShadowFormats(const ptx::Function& function, const std::vector<DescribedRule>& rules,
                const std::vector<PlacedOperands>& operands);

  // What the register holds; `none` for what is no float, or now this and now that.
  [[nodiscard]] Numbers numbers(std::int32_t reg) const;
  // Whether its shadow may differ from its bits.
  [[nodiscard]] bool has_shadow(std::int32_t reg) const;
  [[nodiscard]] bool any() const { return m_any; }
  [[nodiscard]] bool halves() const { return m_halves; }
  // Whether f32 is the only format: then floats moved as 32 bits are f32.
  [[nodiscard]] bool only_f32() const { return m_any && !m_halves; }

 private:
  struct Class {
    Numbers numbers;
    bool mixed = false, carries = false, loaded = false, integer = false;
  };
  struct Packing {
    std::int32_t whole;
    std::vector<std::int32_t> parts;  // registers, -1 for constants and sinks
  };
  // or.b32 of what may be a number and the sign bit of another.
  struct SignBits {
    std::int32_t result;
    std::int32_t sources[2];
  };

  [[nodiscard]] std::int32_t find(std::int32_t reg) const;
  [[nodiscard]] Class& of(std::int32_t reg) {
    return m_classes[static_cast<std::size_t>(find(reg))];
  }
  void unite(std::int32_t a, std::int32_t b);
  void name(std::int32_t reg, Numbers numbers);
  void name_all(const std::vector<const ptx::Operand*>& operands, Numbers numbers);
  void carry(const std::vector<const ptx::Operand*>& operands);
  void use_as_integers(const std::vector<const ptx::Operand*>& operands);
  void read(const DescribedRule& rule, const PlacedOperands& operands);
  void read_move(const DescribedRule& rule, const PlacedOperands& operands);
  void read_memory(const DescribedRule& rule, const PlacedOperands& operands);
  [[nodiscard]] bool settle_packing(const Packing& packing);
  [[nodiscard]] bool settle_sign(const SignBits& sign);
  [[nodiscard]] int number_of(const SignBits& sign) const;  // index of that source, -1: neither
  void settle();
  void default_to_f32();
  void part_mixed_vectors();
  void look_for_formats();

  const ptx::Function& m_function;
  mutable std::vector<std::int32_t> m_parent;
  std::vector<Class> m_classes;
  std::vector<Packing> m_packings;
  std::vector<SignBits> m_signs;
  std::vector<std::vector<std::int32_t>> m_vectors;  // registers that one access fills
  bool m_any = false, m_halves = false;
};

}  // namespace cudaopt::sim

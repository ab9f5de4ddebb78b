// What one instruction, by its name alone, does to the shadow.
#pragma once

#include "ptx/module.hpp"
#include "sim/shadow.hpp"

namespace cudaopt::sim {

struct DescribedRule {
  ShadowRule rule = ShadowRule::other;
  Numbers from, to;  // `none`: the registers say (moves, loads), or no number at all
  Rounding rounding = Rounding::none;
  bool saturate = false, relu = false;
  bool on_purpose = false;
  bool opaque = false;  // what it does to registers is not known: they have no shadow
  Type integer = Type::none;
  ptx::Space space = ptx::Space::none;
  std::uint32_t elements = 1, element_bytes = 4;
};

[[nodiscard]] DescribedRule describe_rule(const ptx::Function& function,
                                          const ptx::Instruction& instruction);

// The numbers a value of this type is; `none` for what is no float.
[[nodiscard]] Numbers numbers_of(Type type);

}  // namespace cudaopt::sim

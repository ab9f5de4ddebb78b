// The kernel's own instructions as the shadow sees them: rules and operands, by instruction.
#pragma once

#include <vector>

#include "sim/placed_operands.hpp"
#include "sim/program.hpp"
#include "sim/shadow_rule.hpp"

namespace cudaopt::sim {

// What cannot be executed has no rule and no operands: they may not be those its name promises.
struct DescribedCode {
  explicit DescribedCode(const Program& program);

  std::vector<DescribedRule> rules;
  std::vector<PlacedOperands> operands;
};

// Whether the shadow may follow the op: functions that are called have registers of their own,
// without a shadow; it begins anew from what they return.
[[nodiscard]] bool is_described(const Program& program, const Op& op);

}  // namespace cudaopt::sim

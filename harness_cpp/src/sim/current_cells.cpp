#include "sim/current_cells.hpp"

#include <algorithm>

namespace cudaopt::sim {
namespace {

using ptx::Instruction;

bool keeps_shared_cells(const Program& program, const std::vector<DescribedRule>& rules,
                        const Op& op, const ShadowPlan& plan) {
  const Instruction& instruction =
      program.function->instructions[static_cast<std::size_t>(op.instruction)];
  const std::string_view opcode = instruction.opcode;
  const bool elsewhere = instruction.has("global") || instruction.has("local");
  if (opcode == "st")
    return elsewhere || plan.ops[static_cast<std::size_t>(op.pc)].rule == ShadowRule::store;
  if (opcode == "atom" || opcode == "red") return elsewhere;
  // What has no rule may write to memory, but for these.
  static constexpr std::string_view kHarmless[] = {"cvta", "mma", "ldmatrix", "movmatrix"};
  return !rules[static_cast<std::size_t>(op.instruction)].opaque ||
         std::find(std::begin(kHarmless), std::end(kHarmless), opcode) != std::end(kHarmless);
}

}  // namespace

void mark_current_loads(const Program& program, const std::vector<DescribedRule>& rules,
                        ShadowPlan& plan) {
  if (plan.cells_per_word != 1 || !program.routines.empty()) return;
  for (const Op& op : program.code) {
    if (op.instruction >= 0 && !keeps_shared_cells(program, rules, op, plan)) return;
  }
  for (ShadowOp& how : plan.ops) {
    const bool all = std::all_of(how.dst_cells.begin(), how.dst_cells.begin() + how.elements,
                                 [](std::int32_t cells) { return cells >= 0; });
    how.cells_are_current = how.rule == ShadowRule::load && how.space == ptx::Space::shared &&
                            how.narrow_address && all && how.to == Numbers{Number::f32, 1};
  }
}

}  // namespace cudaopt::sim

#include "sim/described_code.hpp"

#include "sim/fault.hpp"

namespace cudaopt::sim {

bool is_described(const Program& program, const Op& op) {
  const bool own = &program.function_at(op.pc) == program.function;
  return op.instruction >= 0 && op.full != raise_unsupported && own;
}

DescribedCode::DescribedCode(const Program& program)
    : rules(program.function->instructions.size()), operands(rules.size()) {
  for (const Op& op : program.code) {
    if (!is_described(program, op)) continue;
    const auto index = static_cast<std::size_t>(op.instruction);
    const ptx::Instruction& instruction = program.function->instructions[index];
    rules[index] = describe_rule(*program.function, instruction);
    operands[index] = place(instruction);
  }
}

}  // namespace cudaopt::sim

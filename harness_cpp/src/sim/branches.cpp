#include "sim/branches.hpp"

#include "sim/calls.hpp"
#include "sim/control.hpp"
#include "sim/kernel_ends.hpp"
#include "sim/passed_barriers.hpp"
#include "sim/reconvergence.hpp"

namespace cudaopt::sim {

using ptx::BasicBlock;
using ptx::Instruction;
using ptx::Operand;

Handler leaving(const ptx::Function& function) {
  return function.entry ? exit_lanes : return_lanes;
}

Branches::Branches(const ptx::Function& function, const ptx::ControlFlow& flow, Program& program)
    : m_function(function), m_flow(flow), m_program(program) {
  if (m_flow.blocks.empty()) return;
  m_returning = returning_blocks(m_function, m_flow);
  m_meeting = meeting_blocks(m_function, m_flow);
  m_is_join.assign(m_flow.blocks.size(), false);
  m_first_pc.assign(m_flow.blocks.size(), -1);
  for (std::size_t i = 0; i < m_flow.blocks.size(); ++i) {
    const BasicBlock& block = m_flow.blocks[i];
    if (block.successors.size() < 2 || m_meeting[i] == ptx::kExit) continue;
    m_is_join[static_cast<std::size_t>(m_meeting[i])] = true;
  }
}

bool Branches::assign(const Instruction& instruction, Op& op) {
  if (instruction.operands.size() != 1) return false;
  const Operand& label = instruction.operands[0];
  if (label.kind != Operand::Kind::label) return false;
  op.pipe = Pipe::control;
  const auto count = static_cast<std::int32_t>(m_function.instructions.size());
  if (label.target >= count || m_returning[static_cast<std::size_t>(
                                   m_flow.block_of[static_cast<std::size_t>(label.target)])]) {
    op.full = op.masked = leaving(m_function);
    return true;
  }
  op.full = op.masked = op.guard >= 0 ? branch_if : branch_always;
  op.is_branch = true;
  op.target = label.target;  // an instruction until set_targets
  return true;
}

bool Branches::assign_table(const Instruction& instruction, OperandAssignment& operands, Op& op) {
  if (instruction.operands.size() != 2) return false;
  const auto index = operands.source(instruction.operands[0], Slot::b32, false);
  if (!index) return false;
  op.src[0] = *index;
  op.full = op.masked = branch_by_index;
  op.pipe = Pipe::control;
  op.aux = static_cast<std::int32_t>(m_program.branch_tables.size());
  m_program.branch_tables.emplace_back();  // filled by set_targets
  return true;
}

std::int32_t Branches::pc_of_block_at(std::int32_t instruction) const {
  const auto index = static_cast<std::size_t>(instruction);
  if (index >= m_flow.block_of.size()) return static_cast<std::int32_t>(m_program.code.size()) - 1;
  return m_first_pc[static_cast<std::size_t>(m_flow.block_of[index])];
}

void Branches::set_targets(std::size_t begin) {
  for (std::size_t pc = begin; pc < m_program.code.size(); ++pc) {
    Op& op = m_program.code[pc];
    const bool has_table = op.full == branch_by_index;
    if (!op.is_branch && !has_table) continue;
    if (op.is_branch) op.target = pc_of_block_at(op.target);
    if (has_table) fill_table(op);
    const std::int32_t block = m_flow.block_of[static_cast<std::size_t>(op.instruction)];
    const std::int32_t meeting = m_meeting[static_cast<std::size_t>(block)];
    if (meeting != ptx::kExit) op.reconverge = m_first_pc[static_cast<std::size_t>(meeting)];
  }
}

void Branches::fill_table(const Op& op) {
  const Instruction& branch = m_function.instructions[static_cast<std::size_t>(op.instruction)];
  auto& table = m_program.branch_tables[static_cast<std::size_t>(op.aux)];
  for (const Operand& label : branch.operands[1].elements) {
    table.push_back(pc_of_block_at(label.target));
  }
}

void Branches::note_barriers() {
  if (m_flow.blocks.empty()) return;
  const std::vector<bool> ends = kernel_ends(m_function, m_flow, m_returning);
  m_program.passing = passed_barriers(m_flow, m_meeting, m_returning, ends, m_program.code);
  for (std::size_t block = 0; block < ends.size(); ++block) {
    // Behind the inserted op.
    if (ends[block] && m_is_join[block]) m_program.ends.push_back(m_first_pc[block] + 1);
  }
}

}  // namespace cudaopt::sim

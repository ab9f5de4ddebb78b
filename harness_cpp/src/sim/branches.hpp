// Where the branches of one function lead, and where the lanes they part meet again.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/control_flow.hpp"
#include "sim/operand_assignment.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

// The handler with which a function's lanes leave it.
[[nodiscard]] Handler leaving(const ptx::Function& function);

class Branches {
 public:
  // Of a function whose code is being appended to `program`.
  Branches(const ptx::Function& function, const ptx::ControlFlow& flow, Program& program);

  // Lanes meet at the start of the block: an inserted op there ends their split.
  [[nodiscard]] bool is_join(std::size_t block) const { return m_is_join[block]; }
  // The next op is the block's first.
  void begin_block(std::size_t block) {
    m_first_pc[block] = static_cast<std::int32_t>(m_program.code.size());
  }

  // `bra`: one to a block that only returns is a return. False: not a form there is.
  [[nodiscard]] bool assign(const ptx::Instruction& instruction, Op& op);
  // `brx.idx`.
  [[nodiscard]] bool assign_table(const ptx::Instruction& instruction, OperandAssignment& operands,
                                  Op& op);

  // When all ops from `begin` on are there, the one that leaves at the end included.
  void set_targets(std::size_t begin);
  // Of a kernel.
  void note_barriers();

 private:
  // Of the op at its start; behind the last instruction, that which leaves the function.
  [[nodiscard]] std::int32_t pc_of_block_at(std::int32_t instruction) const;
  void fill_table(const Op& op);

  const ptx::Function& m_function;
  const ptx::ControlFlow& m_flow;
  Program& m_program;
  std::vector<bool> m_returning, m_is_join;
  std::vector<std::int32_t> m_meeting, m_first_pc;  // by block
};

}  // namespace cudaopt::sim

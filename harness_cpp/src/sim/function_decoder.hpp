// Appends the code of one function to a program: the kernel's, or that of a routine it may call.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "ptx/control_flow.hpp"
#include "sim/address_groups.hpp"
#include "sim/branches.hpp"
#include "sim/call_sites.hpp"
#include "sim/entry_layout.hpp"
#include "sim/operand_assignment.hpp"
#include "sim/operand_slots.hpp"
#include "sim/ops.hpp"
#include "sim/parameter_places.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

class FunctionDecoder {
 public:
  // `routine`: an index in `program.routines`, -1 for the kernel.
  FunctionDecoder(const EntryLayout& layout, const ptx::Function& function, Bind bind, Watch watch,
                  Program& program, std::int32_t routine);
  FunctionDecoder(const FunctionDecoder&) = delete;
  FunctionDecoder& operator=(const FunctionDecoder&) = delete;

  // Once.
  void run();

 private:
  void place_parameters(std::int32_t routine);
  Op& append(Op op);
  void emit_block(std::size_t index);
  void emit_join();
  void emit_end();
  void emit(std::int32_t index);
  // False: nobody executes the instruction.
  [[nodiscard]] bool assign(const ptx::Instruction& instruction, Op& op);
  void make_unsupported(const ptx::Instruction& instruction, Op& op);

  const ptx::Function& m_function;
  Bind m_bind;
  Watch m_watch;
  Program& m_program;
  FrameLayout& m_frame;
  std::size_t m_begin;  // in the program's code
  ptx::ControlFlow m_flow;
  ptx::SlotAssignment m_assignment;
  OperandSlots m_slots;
  ParameterPlaces m_places;
  OperandAssignment m_operands;
  CallSites m_calls;
  Branches m_branches;
  AddressGroups m_addresses;
  std::set<std::string> m_noted;  // one note per form is enough
};

}  // namespace cudaopt::sim

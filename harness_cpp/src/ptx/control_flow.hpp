// Basic blocks, immediate post-dominators and register slots of one function.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/module.hpp"

namespace cudaopt::ptx {

inline constexpr std::int32_t kExit = -1;

struct BasicBlock {
  std::int32_t first = 0, end = 0;       // instruction indices, end exclusive
  std::vector<std::int32_t> successors;  // block indices or kExit, each once; fall-through last
  std::int32_t post_dominator = kExit;   // immediate; where diverged lanes meet again
};

struct ControlFlow {
  std::vector<BasicBlock> blocks;
  std::vector<std::int32_t> block_of;  // by instruction index
};

[[nodiscard]] ControlFlow build_control_flow(const Function& function);

// Finds `post_dominator` of every block anew, after the caller thinned out the successors.
void set_post_dominators(ControlFlow& flow);

// Registers whose lives do not overlap share a slot. b16 registers live in 32-bit slots, b128 ones
// in two 64-bit slots of their own; predicates have slots of their own. Slot numbers count within
// their width. Lives are those of one lane: a write must leave the lanes it is not executed for as
// they are.
struct SlotAssignment {
  std::vector<std::int32_t> slot_of;  // by register index; -1: never used
  std::int32_t slots32 = 0, slots64 = 0, predicates = 0;
  bool reads_unwritten = false;  // some path may read a register before it writes it
};

[[nodiscard]] SlotAssignment assign_slots(const Function& function, const ControlFlow& flow);

// Which operands an instruction writes: indices into `operands` (address operands are always read).
[[nodiscard]] std::vector<std::int32_t> written_operands(const Instruction& instruction);

}  // namespace cudaopt::ptx

// One kernel entry, decoded: the instructions to dispatch and what to preload before the first.
// Made once per load; never changed by a launch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/module.hpp"
#include "sim/machine.hpp"

namespace cudaopt::sim {

struct ShadowPlan;

enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  warp_size,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_shared_bytes,
  total_shared_bytes,
  cluster_ctaid_x,  // from here on: of clusters; a block that is in none is one of its own
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  grid_workspace_high,  // how cooperative_groups finds the memory in which a grid synchronises
  grid_workspace_low,
};

// Slots no instruction writes. They are filled per worker (constants, parameters), and per block
// (special registers), so that every operand of every instruction is one byte offset.
struct ConstantSlot {
  std::int32_t offset = 0;
  Slot width = Slot::b32;
  std::uint64_t bits = 0;
};

struct SpecialSlot {
  std::int32_t offset = 0;
  Slot width = Slot::b32;
  Special which = Special::tid_x;
};

// How a loaded value of fewer bits fills its register.
enum class Extension : std::uint8_t {
  none,
  s8_to_16,
  s8_to_32,
  s16_to_32,
  to_64,
  s8_to_64,
  s16_to_64,
  s32_to_64
};

struct ParameterSlot {
  std::int32_t offset = 0;
  Slot width = Slot::b32;
  std::uint32_t from = 0, bytes = 0;  // in the parameter block
  Extension extension = Extension::none;
};

struct NamedRange {
  std::string name;
  std::uint64_t offset = 0, bytes = 0;
};

// Whoever leaves the kernel at `exit_pc` without having executed the barrier at `barrier_pc` has
// passed it by, or, where it is not certain, may have returned before it.
struct Passing {
  std::int32_t barrier_pc = -1, exit_pc = -1;
  bool certain = true;
};

// One operand of an instruction that has too many of them for an Op.
struct WideOperand {
  std::int32_t slot = -1;  // as in Op::src
  Slot width = Slot::none;
  bool negated = false;           // !%p
  std::int64_t displacement = 0;  // of an address
};

struct WideOperands {
  FormBytes form{};                   // Binding::form
  std::vector<WideOperand> operands;  // flattened, in the order written
};

// The address of a local variable, which depends on the frames below.
struct LocalSlot {
  std::int32_t offset = 0;
  Slot width = Slot::b64;
  std::uint32_t from = 0;  // in the frame's local memory
};

// A .param variable among a frame's registers: words of 4 bytes, each one slot.
struct ParameterWords {
  std::int32_t offset = -1;  // of the first
  std::uint32_t bytes = 0;

  [[nodiscard]] std::uint32_t words() const { return (bytes + 3) / 4; }
};

// The registers of one function, and what they hold before its first instruction.
struct FrameLayout {
  std::uint32_t register_bytes = 0, predicates = 0;
  std::uint32_t written_register_bytes = 0, written_predicates = 0;  // of these: instructions' own
  std::vector<ConstantSlot> constants;
  std::vector<SpecialSlot> specials;
  std::vector<ParameterSlot> parameters;
  std::vector<LocalSlot> locals;
  std::vector<std::int32_t> true_predicates;  // preset to all lanes
  ParameterWords parameter_words;             // all of them; zeroed, so that padding is the same
  std::vector<NamedRange> local_variables;
  std::uint32_t local_bytes = 0;
  bool reads_unwritten = false;  // some register may be read before it is written
};

// A function that the kernel may call.
struct Routine : FrameLayout {
  const ptx::Function* function = nullptr;
  std::int32_t first_pc = 0;
  std::vector<ParameterWords> arguments, results;
  std::uint64_t address = 0;
};

// Op::aux of calls is the index of one.
struct CallSite {
  std::int32_t caller = -1;   // a routine; -1: the kernel
  std::int32_t routine = -1;  // -1: through a pointer
  std::vector<ParameterWords> arguments, results;
};

struct Program : FrameLayout {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::string user_file;

  std::vector<Op> code;                     // of the kernel, then of the routines
  std::vector<WideOperands> wide_operands;  // by Op::aux of the instructions that have them
  std::vector<Routine> routines;
  std::vector<CallSite> calls;
  std::vector<std::vector<std::int32_t>> branch_tables;  // of brx.idx: pcs
  std::uint32_t patterns = 0;  // address patterns remembered, one per memory instruction
  std::vector<NamedRange> shared_variables;

  std::uint32_t static_shared_bytes = 0, dynamic_shared_offset = 0;
  std::uint32_t stack_bytes = 0;        // what calls may keep per thread
  std::uint32_t local_stack_bytes = 0;  // local memory of one thread, frames of callees included
  bool ordered = false;  // the result may depend on the order of blocks: one worker, in order
  std::vector<std::int32_t> polling, storing;  // pcs, see polling.hpp
  std::vector<Passing> passing;                // of aligned barriers
  std::vector<std::int32_t> ends;              // pcs of joins that are the kernel's end
  std::vector<std::string> notes;              // instructions this device cannot execute
  std::shared_ptr<const ShadowPlan> shadow;    // Watch::rounding only

  // The function whose instructions these ops are.
  [[nodiscard]] const ptx::Function& function_at(std::int32_t pc) const;
  // nullptr: an op that decode inserted.
  [[nodiscard]] const ptx::Instruction* instruction_of(const Op& op) const;
};

}  // namespace cudaopt::sim

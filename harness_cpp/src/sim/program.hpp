// One kernel entry, decoded: the instructions to dispatch and what to preload before the first.
// Made once per load; never changed by a launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/module.hpp"
#include "sim/machine.hpp"

namespace cudaopt::sim {

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

// Whoever leaves the kernel at `exit_pc` has passed by the barrier at `barrier_pc`.
struct Passing {
  std::int32_t barrier_pc = -1, exit_pc = -1;
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

struct Program {
  const ptx::Module* module = nullptr;
  const ptx::Function* function = nullptr;
  std::string user_file;

  std::vector<Op> code;
  std::vector<WideOperands> wide_operands;  // by Op::aux of the instructions that have them
  std::uint32_t register_bytes = 0, predicates = 0;
  std::uint32_t written_register_bytes = 0, written_predicates = 0;  // of these: instructions' own
  std::uint32_t patterns = 0;  // address patterns remembered, one per memory instruction
  std::vector<ConstantSlot> constants;
  std::vector<SpecialSlot> specials;
  std::vector<ParameterSlot> parameters;
  std::vector<std::int32_t> true_predicates;  // preset to all lanes
  std::vector<NamedRange> shared_variables, local_variables;

  std::uint32_t static_shared_bytes = 0, dynamic_shared_offset = 0, local_bytes = 0;
  bool reads_unwritten = false;  // some register may be read before it is written
  bool ordered = false;  // the result may depend on the order of blocks: one worker, in order
  std::vector<std::int32_t> polling, storing;  // pcs, see polling.hpp
  std::vector<Passing> passing;                // of aligned barriers
  std::vector<std::string> notes;              // instructions this device cannot execute
};

}  // namespace cudaopt::sim

#include "sim/decode.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "ptx/control_flow.hpp"
#include "ptx/flat_operands.hpp"
#include "sim/address_groups.hpp"
#include "sim/block_order.hpp"
#include "sim/call_graph.hpp"
#include "sim/call_sites.hpp"
#include "sim/calls.hpp"
#include "sim/clock.hpp"
#include "sim/control.hpp"
#include "sim/entry_layout.hpp"
#include "sim/fault.hpp"
#include "sim/kernel_ends.hpp"
#include "sim/memory_form.hpp"
#include "sim/operand_slots.hpp"
#include "sim/parameter_places.hpp"
#include "sim/passed_barriers.hpp"
#include "sim/polling.hpp"
#include "sim/reconvergence.hpp"
#include "sim/stack_limit.hpp"

namespace cudaopt::sim {
namespace {

using ptx::BasicBlock;
using ptx::Instruction;
using ptx::Operand;

bool is_narrow_type(std::string_view type) {
  return type.size() >= 3 && type.substr(type.size() - 2) == "16";
}

// Immediates of 16-bit operations carry no upper bits, like the registers beside them.
bool is_narrow_source(const Instruction& instruction, std::size_t source) {
  if (!is_narrow_type(instruction.type())) return false;
  const bool wide_addend = instruction.has("wide") && source == 2;
  return !wide_addend;
}

// `moved`: by mov, of which ptxas takes the bits as they are written.
std::uint64_t immediate_bits(const Operand& operand, Slot width, bool narrow, bool moved) {
  if (operand.float_width == 32 && width == Slot::b64 && !moved) {
    float single;
    const auto bits = static_cast<std::uint32_t>(operand.bits);
    std::memcpy(&single, &bits, sizeof single);
    const double wide = single;
    std::uint64_t wide_bits;
    std::memcpy(&wide_bits, &wide, sizeof wide_bits);
    return wide_bits;
  }
  return narrow ? operand.bits & 0xffff : operand.bits;
}

// "shfl.sync.bfly.b32"
std::string form_of(const Instruction& instruction) {
  std::string form(instruction.opcode);
  for (const std::string_view modifier : instruction.modifiers) {
    form += '.';
    form += modifier;
  }
  return form;
}

// Appends the code of one function to the program: the kernel's, or a routine's.
class Decoder {
 public:
  Decoder(const EntryLayout& layout, const ptx::Function& function, Bind bind, Watch watch,
          Program& program, std::int32_t routine)
      : m_function(function),
        m_bind(bind),
        m_watch(watch),
        m_program(program),
        m_frame(frame_of(program, routine)),
        m_begin(program.code.size()),
        m_flow(ptx::build_control_flow(function)),
        m_assignment(ptx::assign_slots(function, m_flow)),
        m_layout(layout),
        m_slots(function, m_assignment, m_frame),
        m_places(function, m_flow),
        m_calls(program, routine, m_places, m_slots),
        m_addresses(program.patterns) {
    place_parameters(routine);
  }

  void run() {
    find_joins();
    for (std::size_t block = 0; block < m_flow.blocks.size(); ++block) emit_block(block);
    emit_end();
    set_targets();
    // Of callees nobody says where a thread leaves the kernel.
    if (m_function.entry) note_barriers();
    m_frame.reads_unwritten = m_assignment.reads_unwritten;
    m_program.patterns = m_addresses.patterns();
  }

 private:
  static FrameLayout& frame_of(Program& program, std::int32_t routine) {
    if (routine < 0) return program;
    return program.routines[static_cast<std::size_t>(routine)];
  }

  void place_parameters(std::int32_t routine) {
    m_frame.parameter_words = {m_slots.words(m_places.words()), m_places.words() * 4};
    m_places.move_to(m_frame.parameter_words.offset);
    if (routine < 0) return;
    Routine& own = m_program.routines[static_cast<std::size_t>(routine)];
    own.first_pc = static_cast<std::int32_t>(m_begin);
    const auto place = [&](const std::vector<ptx::Parameter>& from,
                           std::vector<ParameterWords>& to) {
      for (std::size_t i = 0; i < from.size(); ++i) {
        if (const ParameterWords* words = m_places.find(from[i].name)) to[i] = *words;
      }
    };
    place(m_function.parameters, own.arguments);
    place(m_function.results, own.results);
  }

  // Lanes meet at the start of these blocks: an inserted op there ends their split.
  void find_joins() {
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

  Op& append(Op op) {
    op.pc = static_cast<std::int32_t>(m_program.code.size());
    m_program.code.push_back(op);
    return m_program.code.back();
  }

  void emit_block(std::size_t index) {
    const BasicBlock& block = m_flow.blocks[index];
    m_first_pc[index] = static_cast<std::int32_t>(m_program.code.size());
    if (m_is_join[index]) emit_join();
    m_addresses.begin_block();
    for (std::int32_t i = block.first; i < block.end; ++i) {
      emit(i);
      m_addresses.forget_written(m_function.instructions[static_cast<std::size_t>(i)]);
    }
  }

  void emit_join() {
    Op join;
    join.full = join.masked = join_lanes;
    join.pipe = Pipe::control;
    append(join);
  }

  // How the function's lanes leave it.
  [[nodiscard]] Handler leaving() const { return m_function.entry ? exit_lanes : return_lanes; }

  // Running off the end returns.
  void emit_end() {
    Op end;
    end.full = end.masked = leaving();
    end.pipe = Pipe::control;
    append(end);
  }

  void emit(std::int32_t index) {
    const Instruction& instruction = m_function.instructions[static_cast<std::size_t>(index)];
    Op op;
    op.instruction = index;
    if (instruction.guard >= 0) {
      op.guard = m_slots.predicate(instruction.guard);
      op.guard_negated = instruction.guard_negated;
    }
    if (!assign(instruction, op)) make_unsupported(instruction, op);
    append(op);
    if (instruction.opcode != "call") return;
    // The callee may be this function, and leave the patterns of its addresses.
    m_addresses.begin_block();
    if (op.full == call_through_pointer) emit_join();
  }

  [[nodiscard]] bool assign(const Instruction& instruction, Op& op) {
    if (instruction.opcode == "bra") return assign_branch(instruction, op);
    if (instruction.opcode == "brx") return assign_table(instruction, op);
    if (instruction.opcode == "call") return m_calls.assign(instruction, op);
    if (instruction.opcode == "ret") {
      op.full = op.masked = leaving();
      op.pipe = Pipe::control;
      return true;
    }
    const auto binding = m_bind(m_function, instruction, m_watch);
    if (!binding) return false;
    op.full = binding->full;
    op.masked = binding->masked;
    op.pipe = binding->pipe;
    op.latency = binding->latency;
    op.aux = binding->aux;
    const auto form = memory_form_of(instruction);
    if (form && form->parameter_by_name) return assign_parameter(instruction, *form, *binding, op);
    if (form && form->parameter_words) return assign_words(instruction, *form, *binding, op);
    if (form) m_addresses.assign(instruction, *form, op);
    if (!binding->wide.empty()) return assign_wide(instruction, *binding, op);
    return assign_operands(instruction, *binding, op);
  }

  // A branch to a block that only returns is a return.
  [[nodiscard]] bool assign_branch(const Instruction& instruction, Op& op) {
    if (instruction.operands.size() != 1) return false;
    const Operand& label = instruction.operands[0];
    if (label.kind != Operand::Kind::label) return false;
    op.pipe = Pipe::control;
    const auto count = static_cast<std::int32_t>(m_function.instructions.size());
    if (label.target >= count || m_returning[static_cast<std::size_t>(
                                     m_flow.block_of[static_cast<std::size_t>(label.target)])]) {
      op.full = op.masked = leaving();
      return true;
    }
    op.full = op.masked = op.guard >= 0 ? branch_if : branch_always;
    op.is_branch = true;
    op.target = label.target;  // an instruction until set_targets
    return true;
  }

  [[nodiscard]] bool assign_table(const Instruction& instruction, Op& op) {
    if (instruction.operands.size() != 2) return false;
    const auto index = source_slot(instruction.operands[0], Slot::b32, false);
    if (!index) return false;
    op.src[0] = *index;
    op.full = op.masked = branch_by_index;
    op.pipe = Pipe::control;
    op.aux = static_cast<std::int32_t>(m_program.branch_tables.size());
    m_program.branch_tables.emplace_back();  // filled by set_targets
    return true;
  }

  [[nodiscard]] std::optional<MemoryForm> memory_form_of(const Instruction& instruction) const {
    const std::string_view opcode = instruction.opcode;
    if (opcode != "ld" && opcode != "ldu" && opcode != "st") return std::nullopt;
    return memory_form(m_function, instruction);
  }

  [[nodiscard]] bool assign_parameter(const Instruction& instruction, const MemoryForm& form,
                                      const Binding& binding, Op& op) {
    std::vector<const Operand*> values;
    flatten(instruction.operands[0], values);
    const Operand& address = instruction.operands[1];
    const auto base = m_layout.address_of(m_function, address.elements[0].name);
    if (!base) return false;
    const auto start =
        static_cast<std::int64_t>(*base) + address.offset + address.elements[0].offset;
    if (start < 0 || start + form.element_bytes * form.elements > m_function.parameter_bytes)
      return false;
    for (std::size_t k = 0; k < form.elements; ++k) {
      ParameterSlot slot;
      slot.width = binding.dst[k];
      slot.from =
          static_cast<std::uint32_t>(start) + static_cast<std::uint32_t>(k) * form.element_bytes;
      slot.bytes = form.element_bytes;
      slot.extension = form.extension;
      op.src[k] = m_slots.parameter(slot);
      if (!assign_destination(*values[k], binding.dst[k], op.dst[k])) return false;
    }
    return true;
  }

  [[nodiscard]] bool assign_words(const Instruction& instruction, const MemoryForm& form,
                                  const Binding& binding, Op& op) {
    const bool store = instruction.opcode == "st";
    const Operand& address = instruction.operands[store ? 0 : 1];
    const ParameterWords* place = m_places.find(address.elements[0].name);
    if (place == nullptr) return false;
    const std::int64_t start = address.offset + address.elements[0].offset;
    const std::uint32_t bytes = form.element_bytes;
    if (start < 0 || start + bytes * form.elements > place->words() * 4 ||
        start % std::min(bytes, 4u) != 0) {
      return false;
    }
    op.imm = start;
    std::vector<const Operand*> values;
    flatten(instruction.operands[store ? 1 : 0], values);
    for (std::size_t k = 0; k < form.elements; ++k) {
      const std::int64_t word = (start + static_cast<std::int64_t>(k * bytes)) / 4;
      (store ? op.dst[k] : op.src[k]) =
          place->offset + static_cast<std::int32_t>(word) * kLanes * 4;
      if (!store && !assign_destination(*values[k], binding.dst[k], op.dst[k])) return false;
      if (!store) continue;
      const auto value = source_slot(*values[k], binding.src[k], false);
      if (!value) return false;
      op.src[k] = *value;
    }
    return true;
  }

  [[nodiscard]] bool assign_operands(const Instruction& instruction, const Binding& binding,
                                     Op& op) {
    std::vector<const Operand*> operands;
    for (const Operand& operand : instruction.operands) flatten(operand, operands);
    std::size_t next = 0;
    for (std::size_t k = 0; k < binding.dst.size(); ++k) {
      if (binding.dst[k] == Slot::none) continue;
      if (next == operands.size()) return false;
      if (!assign_destination(*operands[next++], binding.dst[k], op.dst[k])) return false;
    }
    for (std::size_t k = 0; k < binding.src.size(); ++k) {
      if (binding.src[k] == Slot::none) continue;
      if (next == operands.size()) return false;
      if (!assign_source(instruction, *operands[next++], binding.src[k], k, op)) return false;
    }
    // An operand nobody reads belongs to a form that was taken for another. A cache policy directs
    // what does not exist here, and instructions without effect read nothing; nor is a clock a
    // slot.
    const bool policy = instruction.has("L2::cache_hint");
    const bool clock = reads_clock(op);
    return next == 0 || next + policy + clock == operands.size();
  }

  [[nodiscard]] bool assign_wide(const Instruction& instruction, const Binding& binding, Op& op) {
    std::vector<const Operand*> operands;
    for (const Operand& operand : instruction.operands) flatten(operand, operands);
    if (operands.size() != binding.wide.size()) return false;
    WideOperands wide;
    wide.form = binding.form;
    wide.operands.resize(operands.size());
    for (std::size_t k = 0; k < operands.size(); ++k) {
      WideOperand& to = wide.operands[k];
      to.width = binding.wide[k];
      if (to.width == Slot::none) continue;
      const bool assigned = k < binding.wide_results
                                ? assign_destination(*operands[k], to.width, to.slot)
                                : assign_wide_source(*operands[k], to, op);
      if (!assigned) return false;
    }
    op.aux = static_cast<std::int32_t>(m_program.wide_operands.size());
    m_program.wide_operands.push_back(std::move(wide));
    return true;
  }

  // The last address stands in the op too, for whoever looks at memory instructions from outside.
  [[nodiscard]] bool assign_wide_source(const Operand& operand, WideOperand& to, Op& op) {
    const Operand* value = &operand;
    if (operand.kind == Operand::Kind::address) {
      if (operand.elements.size() != 1) return false;
      value = &operand.elements[0];
      to.displacement = operand.offset;
    }
    to.negated = value->negated;
    const auto slot = source_slot(*value, to.width, false);
    if (!slot) return false;
    to.slot = *slot;
    if (operand.kind == Operand::Kind::address) {
      op.src[0] = to.slot;
      op.imm = to.displacement;
      op.address = to.width;
    }
    return true;
  }

  [[nodiscard]] bool assign_destination(const Operand& operand, Slot width, std::int32_t& to) {
    if (operand.kind == Operand::Kind::sink) {
      to = m_slots.sink(width);
      return true;
    }
    if (operand.kind != Operand::Kind::reg) return false;
    const auto slot = m_slots.register_slot(operand.reg, width);
    if (slot) to = *slot;
    return slot.has_value();
  }

  [[nodiscard]] bool assign_source(const Instruction& instruction, const Operand& operand,
                                   Slot width, std::size_t index, Op& op) {
    const Operand* value = &operand;
    if (operand.kind == Operand::Kind::address) {
      if (operand.elements.size() != 1) return false;
      op.imm = operand.offset;
      op.address = width;
      value = &operand.elements[0];
    }
    if (value->negated) op.src_negated = static_cast<std::uint8_t>(op.src_negated | 1u << index);
    const auto slot = source_slot(*value, width, is_narrow_source(instruction, index),
                                  instruction.opcode == "mov");
    if (slot) op.src[index] = *slot;
    return slot.has_value();
  }

  [[nodiscard]] std::optional<std::int32_t> source_slot(const Operand& operand, Slot width,
                                                        bool narrow, bool moved = false) {
    switch (operand.kind) {
      case Operand::Kind::reg:
        return m_slots.register_slot(operand.reg, width);
      case Operand::Kind::immediate:
        return m_slots.constant(immediate_bits(operand, width, narrow, moved), width);
      case Operand::Kind::special:
        return m_slots.special(operand.name, width);
      case Operand::Kind::sink:
        return m_slots.sink(width);
      case Operand::Kind::symbol: {
        if (!m_function.entry) {
          const NamedRange* local = m_layout.locals(m_function).find(operand.name);
          if (local != nullptr) return m_slots.local(*local, operand.offset, width);
        }
        const auto address = m_layout.address_of(m_function, operand.name);
        if (!address) return std::nullopt;
        return m_slots.constant(*address + static_cast<std::uint64_t>(operand.offset), width);
      }
      default:
        return std::nullopt;
    }
  }

  void make_unsupported(const Instruction& instruction, Op& op) {
    Op failing;
    failing.instruction = op.instruction;
    failing.guard = op.guard;
    failing.guard_negated = op.guard_negated;
    failing.full = failing.masked = raise_unsupported;
    failing.pipe = Pipe::control;
    op = failing;
    if (m_noted.insert(form_of(instruction)).second) {
      m_program.notes.push_back(unsupported_note(m_program, instruction));
    }
  }

  // Of the op at its start; behind the last instruction, that which leaves the function.
  [[nodiscard]] std::int32_t pc_of_block_at(std::int32_t instruction) const {
    const auto index = static_cast<std::size_t>(instruction);
    if (index >= m_flow.block_of.size())
      return static_cast<std::int32_t>(m_program.code.size()) - 1;
    return m_first_pc[static_cast<std::size_t>(m_flow.block_of[index])];
  }

  void set_targets() {
    for (std::size_t pc = m_begin; pc < m_program.code.size(); ++pc) {
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

  void fill_table(const Op& op) {
    const Instruction& branch = m_function.instructions[static_cast<std::size_t>(op.instruction)];
    auto& table = m_program.branch_tables[static_cast<std::size_t>(op.aux)];
    for (const Operand& label : branch.operands[1].elements) {
      table.push_back(pc_of_block_at(label.target));
    }
  }

  void note_barriers() {
    if (m_flow.blocks.empty()) return;
    const std::vector<bool> ends = kernel_ends(m_function, m_flow, m_returning);
    m_program.passing = passed_barriers(m_flow, m_meeting, m_returning, ends, m_program.code);
    for (std::size_t block = 0; block < ends.size(); ++block) {
      // Behind the inserted op.
      if (ends[block] && m_is_join[block]) m_program.ends.push_back(m_first_pc[block] + 1);
    }
  }

  const ptx::Function& m_function;
  Bind m_bind;
  Watch m_watch;
  Program& m_program;
  FrameLayout& m_frame;
  std::size_t m_begin;  // in the program's code
  ptx::ControlFlow m_flow;
  ptx::SlotAssignment m_assignment;
  const EntryLayout& m_layout;
  OperandSlots m_slots;
  ParameterPlaces m_places;
  CallSites m_calls;
  AddressGroups m_addresses;
  std::set<std::string> m_noted;  // one note per form is enough
  std::vector<bool> m_returning, m_is_join;
  std::vector<std::int32_t> m_meeting, m_first_pc;  // by block
};

bool uses_alloca(const std::vector<const ptx::Function*>& functions) {
  for (const ptx::Function* function : functions) {
    for (const Instruction& instruction : function->instructions) {
      if (instruction.opcode == "alloca") return true;
    }
  }
  return false;
}

void set_locals(const EntryLayout::Locals& locals, FrameLayout& frame) {
  frame.local_variables = locals.variables;
  frame.local_bytes = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(locals.bytes, std::numeric_limits<std::uint32_t>::max()));
}

// Before anything is decoded: calls ask for the callee's signature.
void declare_routines(const ModuleImage& image, const EntryLayout& layout,
                      const std::vector<const ptx::Function*>& callees, Program& program) {
  program.routines.resize(callees.size());
  for (std::size_t i = 0; i < callees.size(); ++i) {
    Routine& routine = program.routines[i];
    routine.function = callees[i];
    set_signature(*callees[i], routine);
    set_locals(layout.locals(*callees[i]), routine);
    if (can_be_called(routine)) routine.address = image.address_of(*callees[i]);
  }
}

void set_stack(const std::vector<const ptx::Function*>& functions, Program& program) {
  const bool has_alloca = uses_alloca(functions);
  program.stack_bytes = stack_limit(program, has_alloca);
  bool has_locals = has_alloca;
  for (const Routine& routine : program.routines) has_locals |= routine.local_bytes != 0;
  program.local_stack_bytes = program.local_bytes + (has_locals ? program.stack_bytes : 0);
}

}  // namespace

Program decode(const ModuleImage& image, const ptx::Function& function, Bind bind, Watch watch) {
  const auto callees = functions_reached(image.module(), function);
  const EntryLayout layout(image, function, callees);
  Program program;
  program.module = &image.module();
  program.function = &function;
  program.user_file = image.user_file();
  set_locals(layout.locals(function), program);
  declare_routines(image, layout, callees, program);
  Decoder(layout, function, bind, watch, program, -1).run();
  for (std::size_t i = 0; i < callees.size(); ++i) {
    Decoder(layout, *callees[i], bind, watch, program, static_cast<std::int32_t>(i)).run();
  }
  program.shared_variables = layout.shared_variables;
  program.static_shared_bytes = layout.static_shared_bytes;
  program.dynamic_shared_offset = layout.dynamic_shared_offset;
  std::vector<const ptx::Function*> functions{&function};
  functions.insert(functions.end(), callees.begin(), callees.end());
  program.ordered = depends_on_block_order(functions);
  set_stack(functions, program);
  note_polling(program);
  return program;
}

}  // namespace cudaopt::sim

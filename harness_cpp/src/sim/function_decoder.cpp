#include "sim/function_decoder.hpp"

#include "sim/calls.hpp"
#include "sim/control.hpp"
#include "sim/fault.hpp"
#include "sim/memory_form.hpp"

namespace cudaopt::sim {
namespace {

using ptx::BasicBlock;
using ptx::Instruction;

// "shfl.sync.bfly.b32"
std::string form_of(const Instruction& instruction) {
  std::string form(instruction.opcode);
  for (const std::string_view modifier : instruction.modifiers) {
    form += '.';
    form += modifier;
  }
  return form;
}

FrameLayout& frame_of(Program& program, std::int32_t routine) {
  if (routine < 0) return program;
  return program.routines[static_cast<std::size_t>(routine)];
}

std::optional<MemoryForm> memory_form_of(const ptx::Function& function,
                                         const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode != "ld" && opcode != "ldu" && opcode != "st") return std::nullopt;
  return memory_form(function, instruction);
}

}  // namespace

FunctionDecoder::FunctionDecoder(const EntryLayout& layout, const ptx::Function& function,
                                 Bind bind, Watch watch, Program& program, std::int32_t routine)
    : m_function(function),
      m_bind(bind),
      m_watch(watch),
      m_program(program),
      m_frame(frame_of(program, routine)),
      m_begin(program.code.size()),
      m_flow(ptx::build_control_flow(function)),
      m_assignment(ptx::assign_slots(function, m_flow)),
      m_slots(function, m_assignment, m_frame),
      m_places(function, m_flow),
      m_operands(function, layout, m_places, m_slots, program.wide_operands),
      m_calls(program, routine, m_places, m_slots),
      m_branches(function, m_flow, program),
      m_addresses(program.patterns) {
  place_parameters(routine);
}

void FunctionDecoder::run() {
  for (std::size_t block = 0; block < m_flow.blocks.size(); ++block) emit_block(block);
  emit_end();
  m_branches.set_targets(m_begin);
  // Of callees nobody says where a thread leaves the kernel.
  if (m_function.entry) m_branches.note_barriers();
  m_frame.reads_unwritten = m_assignment.reads_unwritten;
  m_program.patterns = m_addresses.patterns();
}

void FunctionDecoder::place_parameters(std::int32_t routine) {
  m_frame.parameter_words = {m_slots.words(m_places.words()), m_places.words() * 4};
  m_places.move_to(m_frame.parameter_words.offset);
  if (routine < 0) return;
  Routine& own = m_program.routines[static_cast<std::size_t>(routine)];
  own.first_pc = static_cast<std::int32_t>(m_begin);
  const auto place = [&](const std::vector<ptx::Parameter>& from, std::vector<ParameterWords>& to) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (const ParameterWords* words = m_places.find(from[i].name)) to[i] = *words;
    }
  };
  place(m_function.parameters, own.arguments);
  place(m_function.results, own.results);
}

Op& FunctionDecoder::append(Op op) {
  op.pc = static_cast<std::int32_t>(m_program.code.size());
  m_program.code.push_back(op);
  return m_program.code.back();
}

void FunctionDecoder::emit_block(std::size_t index) {
  const BasicBlock& block = m_flow.blocks[index];
  m_branches.begin_block(index);
  if (m_branches.is_join(index)) emit_join();
  m_addresses.begin_block();
  for (std::int32_t i = block.first; i < block.end; ++i) {
    emit(i);
    m_addresses.forget_written(m_function.instructions[static_cast<std::size_t>(i)]);
  }
}

void FunctionDecoder::emit_join() {
  Op join;
  join.full = join.masked = join_lanes;
  join.pipe = Pipe::control;
  append(join);
}

// Running off the end returns.
void FunctionDecoder::emit_end() {
  Op end;
  end.full = end.masked = leaving(m_function);
  end.pipe = Pipe::control;
  append(end);
}

void FunctionDecoder::emit(std::int32_t index) {
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

bool FunctionDecoder::assign(const Instruction& instruction, Op& op) {
  if (instruction.opcode == "bra") return m_branches.assign(instruction, op);
  if (instruction.opcode == "brx") return m_branches.assign_table(instruction, m_operands, op);
  if (instruction.opcode == "call") return m_calls.assign(instruction, op);
  if (instruction.opcode == "ret") {
    op.full = op.masked = leaving(m_function);
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
  const auto form = memory_form_of(m_function, instruction);
  const bool accesses = form && !form->parameter_by_name && !form->parameter_words;
  if (accesses) m_addresses.assign(instruction, *form, op);
  return m_operands.assign(instruction, form, *binding, op);
}

void FunctionDecoder::make_unsupported(const Instruction& instruction, Op& op) {
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

}  // namespace cudaopt::sim

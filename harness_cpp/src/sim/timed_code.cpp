#include "sim/timed_code.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "ptx/control_flow.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using Kind = TimedOp::Kind;

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// "f32" 32, "b128" 128, "f16x2" 32, "pred" 0.
std::uint32_t bits_of(std::string_view type) {
  std::uint32_t bits = 0;
  std::size_t at = 0;
  while (at < type.size() && (type[at] < '0' || type[at] > '9')) ++at;
  for (; at < type.size() && type[at] >= '0' && type[at] <= '9'; ++at) {
    bits = bits * 10 + static_cast<std::uint32_t>(type[at] - '0');
  }
  if (at + 1 < type.size() && type[at] == 'x')
    bits *= static_cast<std::uint32_t>(type[at + 1] - '0');
  return bits;
}

std::uint32_t access_bytes(const Instruction& instruction) {
  if (is_one_of(instruction.opcode, {"ldmatrix", "stmatrix"})) return 16;  // rows
  if (copy_step(instruction) == CopyStep::start && instruction.operands.size() > 2)
    return static_cast<std::uint32_t>(instruction.operands[2].bits);
  std::uint32_t count = 1;
  if (instruction.has("v2")) count = 2;
  if (instruction.has("v4")) count = 4;
  if (instruction.has("v8")) count = 8;
  return bits_of(instruction.type()) / 8 * count;
}

Space access_space(const Instruction& instruction) {
  if (copy_step(instruction) == CopyStep::start) return Space::global;  // what takes long
  for (const std::string_view modifier : instruction.modifiers) {
    if (modifier == "global") return Space::global;
    if (modifier.substr(0, 6) == "shared") return Space::shared;
    if (modifier == "local") return Space::local;
    if (modifier == "const") return Space::constant;
    if (modifier.substr(0, 5) == "param") return Space::param;
  }
  return Space::none;
}

bool changes_flow(const Instruction& instruction) {
  return is_one_of(instruction.opcode, {"bra", "brx", "call", "ret", "exit", "bar", "barrier"});
}

Kind kind_of(const Instruction& instruction) {
  if (changes_flow(instruction)) return Kind::boundary;
  // Parameters arrive in constant banks that machine code reads as operands.
  if (access_space(instruction) == Space::param) return Kind::compute;
  if (is_one_of(instruction.opcode, {"ld", "ldu"})) return Kind::load;
  if (instruction.opcode == "st" || instruction.opcode == "stmatrix") return Kind::store;
  if (instruction.opcode == "ldmatrix") return Kind::load;
  if (moves_tile(instruction)) return instruction.has("store") ? Kind::store : Kind::load;
  if (copy_step(instruction) == CopyStep::start) return Kind::load;
  if (is_one_of(instruction.opcode, {"atom", "red"})) return Kind::atomic;
  return Kind::compute;
}

// Machine instructions per PTX instruction where it is not one, as sm_90 code shows them.
std::uint8_t slots_of(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  const std::string_view type = instruction.type();
  if (const std::uint8_t slots = matrix_slots(instruction); slots != 0) return slots;
  if (is_one_of(opcode, {"mov", "cvta"})) return 0;         // renamed away, or an operand
  if (access_space(instruction) == Space::param) return 0;  // constants, or registers of a call
  const bool approximate = instruction.has("approx");
  const bool is_float = !type.empty() && (type[0] == 'f' || type[0] == 'b');
  if (is_one_of(opcode, {"div", "rem"})) {
    if (!is_float) return bits_of(type) == 64 ? 70 : 22;
    return approximate ? 4 : static_cast<std::uint8_t>(bits_of(type) == 64 ? 30 : 12);
  }
  if (is_one_of(opcode, {"sqrt", "rcp"}) && !approximate) return 8;
  // Without .ftz, subnormal arguments are scaled before the special unit and after it.
  if (is_one_of(opcode, {"ex2", "lg2", "rcp", "rsqrt", "sqrt"}) && !instruction.has("ftz"))
    return 4;
  if (bits_of(type) == 64 && !is_float) {
    if (instruction.has("wide")) return 1;
    if (is_one_of(opcode, {"mul", "mad"})) return 4;
    if (opcode == "cvt") return 1;
    return 2;  // 64-bit integers are pairs of registers
  }
  return 1;
}

void collect_registers(const Operand& operand, std::vector<std::int32_t>& into) {
  if (operand.kind == Operand::Kind::reg) into.push_back(operand.reg);
  for (const Operand& element : operand.elements) collect_registers(element, into);
}

void set_registers(const Instruction& instruction, TimedOp& timed) {
  const std::vector<std::int32_t> written = ptx::written_operands(instruction);
  std::vector<std::int32_t> writes, reads;
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const bool is_written =
        std::find(written.begin(), written.end(), static_cast<std::int32_t>(i)) != written.end();
    collect_registers(instruction.operands[i], is_written ? writes : reads);
  }
  if (instruction.guard >= 0) reads.push_back(instruction.guard);
  writes.resize(std::min(writes.size(), timed.written.size() - 1));
  reads.resize(std::min(reads.size(), timed.read.size() - 1));
  std::copy(writes.begin(), writes.end(), timed.written.begin());
  std::copy(reads.begin(), reads.end(), timed.read.begin());
}

TimedOp timed_op(const Instruction& instruction, const Op& op) {
  TimedOp timed;
  timed.kind = kind_of(instruction);
  timed.space = access_space(instruction);
  timed.copy = copy_step(instruction);
  if (timed.copy == CopyStep::wait_group && !instruction.operands.empty())
    timed.pending_groups = static_cast<std::uint16_t>(instruction.operands[0].bits);
  timed.is_tile = moves_tile(instruction);
  timed.any_order =
      instruction.has("nc") || timed.space == Space::constant || timed.copy == CopyStep::start;
  timed.slots = slots_of(instruction);
  timed.bytes = static_cast<std::uint8_t>(access_bytes(instruction));
  timed.latency = timed.slots == 0 ? 0 : op.latency;
  timed.pipe = op.pipe;
  set_registers(instruction, timed);
  return timed;
}

const Operand* address_of(const Instruction& instruction) {
  for (const Operand& operand : instruction.operands) {
    if (operand.kind == Operand::Kind::address) return &operand;
  }
  return nullptr;
}

// A 32-bit index times a size plus a 64-bit base is one instruction (IMAD.WIDE), made where the sum
// is; the product alone is never computed.
void join_wide_products(const ptx::Function& function, const std::vector<Op>& ops,
                        TimedCode& code) {
  std::vector<bool> is_product(code.registers, false);
  const auto instruction_of = [&](const Op& op) -> const Instruction* {
    return op.instruction < 0 ? nullptr
                              : &function.instructions[static_cast<std::size_t>(op.instruction)];
  };
  const auto product_register = [&](std::int32_t index) {
    return index >= 0 && is_product[static_cast<std::size_t>(index)];
  };
  for (const Op& op : ops) {
    const Instruction* instruction = instruction_of(op);
    TimedOp& timed = code.ops[static_cast<std::size_t>(op.pc)];
    if (instruction == nullptr || instruction->opcode != "mul" || !instruction->has("wide") ||
        timed.written[0] < 0 || bits_of(instruction->type()) != 32) {
      continue;
    }
    is_product[static_cast<std::size_t>(timed.written[0])] = true;
    timed.slots = 0;
  }
  for (const Op& op : ops) {
    const Instruction* instruction = instruction_of(op);
    TimedOp& timed = code.ops[static_cast<std::size_t>(op.pc)];
    if (instruction == nullptr || instruction->opcode != "add") continue;
    if (product_register(timed.read[0]) || product_register(timed.read[1])) timed.slots = 1;
  }
}

// Where a shared load of one word reads, for `mark_merged`.
struct SharedWord {
  std::int32_t base_register = -1;
  std::string_view base_symbol;
  std::int64_t offset = 0;
  std::int32_t pc = -1;

  [[nodiscard]] bool same_base(const SharedWord& other) const {
    return base_register == other.base_register && base_symbol == other.base_symbol;
  }
};

std::optional<SharedWord> shared_word(const Instruction& instruction, const TimedOp& timed) {
  if (timed.kind != Kind::load || timed.space != Space::shared || timed.bytes != 4) return {};
  const Operand* address = address_of(instruction);
  if (address == nullptr || address->elements.empty() || instruction.guard >= 0) return {};
  SharedWord word;
  const Operand& base = address->elements.front();
  if (base.kind == Operand::Kind::reg) word.base_register = base.reg;
  if (base.kind == Operand::Kind::symbol) word.base_symbol = base.name;
  word.offset = address->offset + base.offset;
  return word;
}

// ptxas turns loads of neighbouring words at a 16-byte boundary into one 128-bit load, if no store
// lies between them. The word at the boundary stands for all four.
void mark_merged(const ptx::Function& function, const std::vector<Op>& ops, TimedCode& code) {
  std::vector<SharedWord> leaders;
  for (const Op& op : ops) {
    TimedOp& timed = code.ops[static_cast<std::size_t>(op.pc)];
    const bool ends_block = op.is_branch || timed.kind == Kind::boundary;
    if (op.instruction < 0 || ends_block || timed.kind == Kind::store ||
        timed.kind == Kind::atomic) {
      leaders.clear();
      continue;
    }
    auto word = shared_word(function.instructions[static_cast<std::size_t>(op.instruction)], timed);
    if (!word) continue;
    word->pc = op.pc;
    const auto covers = [&](const SharedWord& leader) {
      return leader.same_base(*word) && word->offset > leader.offset &&
             word->offset < leader.offset + 16;
    };
    const auto leader = std::find_if(leaders.begin(), leaders.end(), covers);
    if (leader != leaders.end()) {
      timed.leader = leader->pc;
      timed.slots = 0;
    }
    if (word->offset % 16 == 0) leaders.push_back(*word);
  }
}

// ptxas predicates what a short forward branch skips, so that loads on both sides overlap.
void mark_predicated(const ptx::Function& function, const std::vector<Op>& ops, TimedCode& code) {
  constexpr std::int32_t kLongest = 8;
  for (const Op& op : ops) {
    if (!op.is_branch || op.guard < 0 || op.target <= op.pc || op.target > op.pc + kLongest)
      continue;
    const bool straight =
        std::none_of(ops.begin() + op.pc + 1, ops.begin() + op.target, [&](const Op& skipped) {
          return skipped.instruction >= 0 &&
                 changes_flow(function.instructions[static_cast<std::size_t>(skipped.instruction)]);
        });
    if (straight) code.ops[static_cast<std::size_t>(op.pc)].kind = Kind::compute;
  }
}

}  // namespace

TimedCode timed_code(const ptx::Function& function, const std::vector<Op>& ops) {
  TimedCode code;
  code.registers = function.registers.size();
  code.ops.resize(ops.size());
  for (const Op& op : ops) {
    TimedOp& timed = code.ops[static_cast<std::size_t>(op.pc)];
    if (op.instruction < 0) {  // lanes meet again: no machine instruction
      timed.slots = 0;
      timed.latency = 0;
      continue;
    }
    timed = timed_op(function.instructions[static_cast<std::size_t>(op.instruction)], op);
  }
  join_wide_products(function, ops, code);
  mark_predicated(function, ops, code);
  mark_merged(function, ops, code);
  return code;
}

TimedCode timed_code(const Program& program) {
  if (program.routines.empty()) return timed_code(*program.function, program.code);
  TimedCode all;
  const auto count = static_cast<std::int32_t>(program.code.size());
  std::vector<std::int32_t> begins{0};
  for (const Routine& routine : program.routines) begins.push_back(routine.first_pc);
  begins.push_back(count);
  for (std::size_t i = 0; i + 1 < begins.size(); ++i) {
    std::vector<Op> ops(program.code.begin() + begins[i], program.code.begin() + begins[i + 1]);
    for (Op& op : ops) {
      op.pc -= begins[i];
      if (op.target >= 0) op.target -= begins[i];
    }
    TimedCode own = timed_code(program.function_at(begins[i]), ops);
    const auto first_register = static_cast<std::int32_t>(all.registers);
    for (TimedOp& timed : own.ops) {
      for (std::int32_t& index : timed.written) index += index >= 0 ? first_register : 0;
      for (std::int32_t& index : timed.read) index += index >= 0 ? first_register : 0;
      timed.leader += timed.leader >= 0 ? begins[i] : 0;
    }
    all.ops.insert(all.ops.end(), own.ops.begin(), own.ops.end());
    all.registers += own.registers;
  }
  return all;
}

}  // namespace cudaopt::sim

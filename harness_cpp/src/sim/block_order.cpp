#include "sim/block_order.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ptx/control_flow.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

// Atomics on shared memory meet within one block only.
bool leaves_the_block(const Instruction& instruction) {
  return !instruction.has("shared") && !instruction.has("shared::cta") && !instruction.has("local");
}

void mark_read(const Operand& operand, std::vector<bool>& read) {
  if (operand.kind == Operand::Kind::reg) read[static_cast<std::size_t>(operand.reg)] = true;
  for (const Operand& element : operand.elements) mark_read(element, read);
}

// The type is not always the last modifier: atom.global.v2.f32.add.
bool of_floats(const Instruction& instruction) {
  const auto& words = instruction.modifiers;
  return std::any_of(words.begin(), words.end(), [](std::string_view word) {
    return word.substr(0, 2) == "bf" || word.substr(0, 2) == "f1" || word.substr(0, 2) == "f3" ||
           word.substr(0, 2) == "f6";
  });
}

// The operation's name if any order of it leaves the same memory, else "".
std::string commuting_operation(const Instruction& instruction) {
  static constexpr std::string_view kCommuting[] = {"add", "min", "max", "and", "or", "xor"};
  const bool is_float = of_floats(instruction);
  for (const std::string_view operation : kCommuting) {
    if (!instruction.has(operation)) continue;
    return is_float && operation == "add" ? "" : std::string(operation);
  }
  return "";
}

bool reads_what_others_write(const Instruction& instruction) {
  const bool is_load = instruction.opcode == "ld" && leaves_the_block(instruction);
  return is_load &&
         (instruction.has("volatile") || instruction.has("relaxed") || instruction.has("acquire") ||
          instruction.has("mmio") || instruction.has("cv"));
}

}  // namespace

std::vector<bool> registers_read(const ptx::Function& function) {
  std::vector<bool> read(function.registers.size(), false);
  for (const Instruction& instruction : function.instructions) {
    const std::vector<std::int32_t> written = ptx::written_operands(instruction);
    std::size_t next = 0;
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      if (next < written.size() && static_cast<std::size_t>(written[next]) == i) {
        ++next;
      } else {
        mark_read(instruction.operands[i], read);
      }
    }
    if (instruction.guard >= 0) read[static_cast<std::size_t>(instruction.guard)] = true;
  }
  return read;
}

bool result_is_used(const Instruction& atomic, const std::vector<bool>& read) {
  if (atomic.operands.empty()) return false;
  const Operand& result = atomic.operands.front();
  if (result.kind == Operand::Kind::sink) return false;
  return result.kind != Operand::Kind::reg || read[static_cast<std::size_t>(result.reg)];
}

bool depends_on_block_order(const std::vector<const ptx::Function*>& functions) {
  std::set<std::string> operations;
  for (const ptx::Function* function : functions) {
    std::vector<bool> read;
    for (const Instruction& instruction : function->instructions) {
      if (reads_what_others_write(instruction)) return true;
      const bool is_atomic = instruction.opcode == "atom";
      if ((!is_atomic && instruction.opcode != "red") || !leaves_the_block(instruction)) continue;
      if (instruction.operands.empty()) continue;
      if (read.empty()) read = registers_read(*function);
      if (is_atomic && result_is_used(instruction, read)) return true;
      operations.insert(commuting_operation(instruction));
    }
  }
  return operations.count("") != 0 || operations.size() > 1;
}

}  // namespace cudaopt::sim

#include "sim/polling.hpp"

#include <algorithm>

#include "sim/block_order.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;

enum class Effect : std::uint8_t { none, polls, stores };

Effect effect_of(const Instruction& instruction, const std::vector<bool>& registers_read) {
  const std::string_view opcode = instruction.opcode;
  const auto any = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](auto name) { return instruction.has(name); });
  };
  if (opcode == "atom") {
    return result_is_used(instruction, registers_read) ? Effect::polls : Effect::stores;
  }
  if (opcode == "ld") {
    return any({"volatile", "relaxed", "acquire", "mmio", "cv"}) ? Effect::polls : Effect::none;
  }
  if (opcode == "fence" || opcode == "membar" || opcode == "nanosleep") return Effect::polls;
  if (opcode == "mbarrier") {
    return any({"test_wait", "try_wait"}) ? Effect::polls : Effect::stores;
  }
  if (opcode == "st") return instruction.has("param") ? Effect::none : Effect::stores;
  if (opcode == "wmma") return any({"store"}) ? Effect::stores : Effect::none;
  if (opcode == "red" || opcode == "cp" || opcode == "stmatrix") return Effect::stores;
  return Effect::none;
}

}  // namespace

void note_polling(Program& program) {
  const ptx::Function* function = nullptr;
  std::vector<bool> read;
  for (const Op& op : program.code) {
    const Instruction* instruction = program.instruction_of(op);
    if (instruction == nullptr) continue;
    if (const ptx::Function& own = program.function_at(op.pc); &own != function) {
      function = &own;
      read = registers_read(own);
    }
    const Effect effect = effect_of(*instruction, read);
    if (effect == Effect::polls) program.polling.push_back(op.pc);
    if (effect == Effect::stores) program.storing.push_back(op.pc);
  }
}

}  // namespace cudaopt::sim

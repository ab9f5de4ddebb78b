#include "sim/speculated_loads.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "ptx/control_flow.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

// Whether the operand, or an element of it, is the register.
bool names(const Operand& operand, std::int32_t reg) {
  if (operand.kind == Operand::Kind::reg && operand.reg == reg) return true;
  return std::any_of(operand.elements.begin(), operand.elements.end(),
                     [&](const Operand& element) { return names(element, reg); });
}

bool writes(const Instruction& instruction, std::int32_t reg) {
  const std::vector<std::int32_t> written = ptx::written_operands(instruction);
  return std::any_of(written.begin(), written.end(), [&](std::int32_t at) {
    return names(instruction.operands[static_cast<std::size_t>(at)], reg);
  });
}

bool reads(const Instruction& instruction, std::int32_t reg) {
  const std::vector<std::int32_t> written = ptx::written_operands(instruction);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const auto at = static_cast<std::int32_t>(i);
    const bool result = std::find(written.begin(), written.end(), at) != written.end();
    if (!result && names(instruction.operands[i], reg)) return true;
  }
  return false;
}

// The one instruction that writes the register; nullptr: there are several or none.
const Instruction* definition(const Function& function, std::int32_t reg) {
  const Instruction* only = nullptr;
  for (const Instruction& instruction : function.instructions) {
    if (!writes(instruction, reg)) continue;
    if (only != nullptr) return nullptr;
    only = &instruction;
  }
  return only;
}

bool is_fixed(const Function& function, const Operand& operand, int depth) {
  if (operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::immediate)
    return true;
  if (operand.kind == Operand::Kind::special) return operand.name == "%SP";
  if (operand.kind != Operand::Kind::reg || depth == 0) return false;
  const Instruction* by = definition(function, operand.reg);
  if (by == nullptr) return false;
  const bool moves =
      by->opcode == "mov" || by->opcode == "cvta" || by->opcode == "add" || by->opcode == "or";
  return moves &&
         std::all_of(by->operands.begin() + 1, by->operands.end(),
                     [&](const Operand& source) { return is_fixed(function, source, depth - 1); });
}

bool is_register(const Operand& operand) { return operand.kind == Operand::Kind::reg; }

class Uses {
 public:
  explicit Uses(const Function& function) : m_function(function) {}

  // Whether something becomes of the register's value without a choice.
  [[nodiscard]] bool any(std::int32_t reg) {
    if (!m_seen.insert(reg).second) return false;
    return std::any_of(m_function.instructions.begin(), m_function.instructions.end(),
                       [&](const Instruction& user) { return uses(user, reg); });
  }

 private:
  [[nodiscard]] bool uses(const Instruction& user, std::int32_t reg) {
    if (user.guard == reg) return true;
    if (!reads(user, reg)) return false;
    if (user.opcode == "selp") return user.operands.size() > 3 && names(user.operands[3], reg);
    const bool combines = user.type() == "pred" && (user.opcode == "and" || user.opcode == "or");
    const bool compares = user.opcode == "setp" && (user.has("and") || user.has("or"));
    if (combines || compares) return false;
    if (user.opcode == "st" || user.opcode == "call" || user.operands.empty()) return true;
    const std::vector<std::int32_t> written = ptx::written_operands(user);
    if (written.empty() || !is_computation(user)) return true;
    return std::any_of(written.begin(), written.end(), [&](std::int32_t at) {
      const Operand& result = user.operands[static_cast<std::size_t>(at)];
      return !is_register(result) || any(result.reg);
    });
  }

  static bool is_computation(const Instruction& user) {
    static constexpr std::string_view kOthers[] = {"atom", "red",     "ld",    "shfl", "vote",
                                                   "bar",  "barrier", "match", "redux"};
    return std::find(std::begin(kOthers), std::end(kOthers), user.opcode) == std::end(kOthers);
  }

  const Function& m_function;
  std::set<std::int32_t> m_seen;
};

}  // namespace

bool may_be_speculated(const Function& function, const Instruction& instruction) {
  if (instruction.opcode != "ld" || instruction.operands.size() < 2) return false;
  if (instruction.has("volatile") || !is_register(instruction.operands[0])) return false;
  const Operand& address = instruction.operands[1];
  if (address.elements.size() != 1 || !is_fixed(function, address.elements[0], 8)) return false;
  Uses uses(function);
  return !uses.any(instruction.operands[0].reg);
}

}  // namespace cudaopt::sim

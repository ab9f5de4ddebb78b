#include "sim/call_graph.hpp"

#include <unordered_set>

namespace cudaopt::sim {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

bool is_call(const Instruction& instruction) {
  return instruction.opcode == "call" && instruction.operands.size() >= 3;
}

class Reached {
 public:
  explicit Reached(const ptx::Module& module) : m_module(module) {}

  void add_callees(const Function& function) {
    for (const Instruction& instruction : function.instructions) {
      if (!is_call(instruction)) continue;
      const std::string_view name = called_name(instruction);
      if (!name.empty()) add(m_module.find(name));
      if (name.empty() && !m_has_addressed) add_addressed();
    }
  }

  // In the order found, each once; `next` is empty in the end.
  [[nodiscard]] const Function* next() {
    if (m_pending.empty()) return nullptr;
    const Function* function = m_pending.back();
    m_pending.pop_back();
    return function;
  }

  [[nodiscard]] bool contains(const Function& function) const {
    return m_functions.count(&function) != 0;
  }

 private:
  void add(const Function* function) {
    if (function == nullptr || function->entry || !m_functions.insert(function).second) return;
    m_pending.push_back(function);
  }

  void add_addressed() {
    m_has_addressed = true;
    for (const ptx::Variable& variable : m_module.variables) {
      for (const auto& reference : variable.references) add(m_module.find(reference.symbol));
    }
    for (const Function& function : m_module.functions) {
      for (const Instruction& instruction : function.instructions) {
        if (is_call(instruction)) continue;
        for (const Operand& operand : instruction.operands) {
          if (operand.kind == Operand::Kind::symbol) add(m_module.find(operand.name));
        }
      }
    }
  }

  const ptx::Module& m_module;
  std::unordered_set<const Function*> m_functions;
  std::vector<const Function*> m_pending;
  bool m_has_addressed = false;
};

}  // namespace

std::string_view called_name(const Instruction& call) {
  const Operand& function = call.operands[1];
  return function.kind == Operand::Kind::symbol ? std::string_view(function.name) : "";
}

std::vector<const Function*> functions_reached(const ptx::Module& module, const Function& entry) {
  Reached reached(module);
  reached.add_callees(entry);
  while (const Function* function = reached.next()) reached.add_callees(*function);
  std::vector<const Function*> functions;
  for (const Function& function : module.functions) {
    if (reached.contains(function)) functions.push_back(&function);
  }
  return functions;
}

}  // namespace cudaopt::sim

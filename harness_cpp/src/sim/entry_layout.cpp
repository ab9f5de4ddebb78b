#include "sim/entry_layout.hpp"

#include <algorithm>
#include <unordered_set>

namespace cudaopt::sim {
namespace {

using ptx::Space;
using ptx::Variable;

std::uint32_t align(std::uint32_t offset, std::uint32_t alignment) {
  alignment = std::max(alignment, 1u);
  return (offset + alignment - 1) / alignment * alignment;
}

void collect_symbols(const ptx::Operand& operand, std::unordered_set<std::string>& names) {
  if (operand.kind == ptx::Operand::Kind::symbol) names.insert(operand.name);
  for (const ptx::Operand& element : operand.elements) collect_symbols(element, names);
}

std::unordered_set<std::string> symbols_used(const ptx::Function& function) {
  std::unordered_set<std::string> names;
  for (const ptx::Instruction& instruction : function.instructions) {
    for (const ptx::Operand& operand : instruction.operands) collect_symbols(operand, names);
  }
  return names;
}

}  // namespace

EntryLayout::EntryLayout(const ModuleImage& image, const ptx::Function& entry,
                         const std::vector<const ptx::Function*>& callees)
    : m_image(image) {
  std::vector<const ptx::Function*> functions{&entry};
  functions.insert(functions.end(), callees.begin(), callees.end());
  Names used;
  for (const ptx::Function* function : functions) used.merge(symbols_used(*function));
  place_shared(image.module().variables, used, m_addresses);
  for (const ptx::Function* function : functions) {
    place_shared(function->variables, symbols_used(*function), m_own[function]);
  }
  align_dynamic(image.module().variables);
  for (const ptx::Function* function : functions) align_dynamic(function->variables);
  place_dynamic(image.module().variables, m_addresses);
  for (const ptx::Function* function : functions) {
    place_dynamic(function->variables, m_own[function]);
    place_local(*function);
  }
  for (const NamedRange& local : m_locals[&entry].variables)
    m_own[&entry][local.name] = local.offset;
  for (const ptx::Parameter& parameter : entry.parameters) {
    m_own[&entry][parameter.name] = parameter.offset;
  }
}

// Other entries of the module may declare shared memory too: only what this one names counts.
void EntryLayout::place_shared(const std::vector<Variable>& variables, const Names& used,
                               Addresses& addresses) {
  for (const Variable& variable : variables) {
    if (variable.space != Space::shared || variable.external) continue;
    if (used.count(variable.name) == 0) continue;
    const std::uint32_t offset = align(static_shared_bytes, variable.alignment);
    addresses[variable.name] = offset;
    shared_variables.push_back({variable.name, offset, variable.bytes});
    static_shared_bytes = offset + static_cast<std::uint32_t>(variable.bytes);
    dynamic_shared_offset = static_shared_bytes;
  }
}

// Dynamic shared memory begins behind the static variables; all its names mean the same place.
void EntryLayout::align_dynamic(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    if (variable.space != Space::shared || !variable.external) continue;
    dynamic_shared_offset = align(dynamic_shared_offset, std::max(variable.alignment, 16u));
  }
}

void EntryLayout::place_dynamic(const std::vector<Variable>& variables,
                                Addresses& addresses) const {
  for (const Variable& variable : variables) {
    if (variable.space == Space::shared && variable.external) {
      addresses[variable.name] = dynamic_shared_offset;
    }
  }
}

void EntryLayout::place_local(const ptx::Function& function) {
  Locals& locals = m_locals[&function];
  for (const Variable& variable : function.variables) {
    if (variable.space != Space::local) continue;
    const std::uint64_t alignment = std::max(variable.alignment, 16u);
    const std::uint64_t offset = (locals.bytes + alignment - 1) / alignment * alignment;
    locals.variables.push_back({variable.name, offset, variable.bytes});
    locals.bytes = (offset + variable.bytes + 15) / 16 * 16;
  }
}

const NamedRange* EntryLayout::Locals::find(const std::string& name) const {
  for (const NamedRange& variable : variables) {
    if (variable.name == name) return &variable;
  }
  return nullptr;
}

const EntryLayout::Locals& EntryLayout::locals(const ptx::Function& function) const {
  return m_locals.at(&function);
}

std::optional<std::uint64_t> EntryLayout::address_of(const ptx::Function& function,
                                                     const std::string& symbol) const {
  const auto own = m_own.find(&function);
  if (own != m_own.end()) {
    const auto found = own->second.find(symbol);
    if (found != own->second.end()) return found->second;
  }
  const auto found = m_addresses.find(symbol);
  if (found != m_addresses.end()) return found->second;
  return m_image.address_of(symbol);
}

}  // namespace cudaopt::sim

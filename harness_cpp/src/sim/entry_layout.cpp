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

EntryLayout::EntryLayout(const ModuleImage& image, const ptx::Function& function) : m_image(image) {
  place_shared(image.module().variables, function);
  place_shared(function.variables, function);
  place_dynamic(image.module().variables);
  place_dynamic(function.variables);
  place_local(function);
  for (const ptx::Parameter& parameter : function.parameters) {
    m_addresses[parameter.name] = parameter.offset;
  }
}

// Other entries of the module may declare shared memory too: only what this one names counts.
void EntryLayout::place_shared(const std::vector<Variable>& variables,
                               const ptx::Function& function) {
  const std::unordered_set<std::string> used = symbols_used(function);
  for (const Variable& variable : variables) {
    if (variable.space != Space::shared || variable.external) continue;
    if (used.count(variable.name) == 0) continue;
    const std::uint32_t offset = align(static_shared_bytes, variable.alignment);
    m_addresses[variable.name] = offset;
    shared_variables.push_back({variable.name, offset, variable.bytes});
    static_shared_bytes = offset + static_cast<std::uint32_t>(variable.bytes);
    dynamic_shared_offset = static_shared_bytes;
  }
}

// Dynamic shared memory begins behind the static variables; all its names mean the same place.
void EntryLayout::place_dynamic(const std::vector<Variable>& variables) {
  for (const Variable& variable : variables) {
    if (variable.space != Space::shared || !variable.external) continue;
    dynamic_shared_offset = align(dynamic_shared_offset, std::max(variable.alignment, 16u));
  }
  for (const Variable& variable : variables) {
    if (variable.space != Space::shared || !variable.external) continue;
    m_addresses[variable.name] = dynamic_shared_offset;
  }
}

void EntryLayout::place_local(const ptx::Function& function) {
  for (const Variable& variable : function.variables) {
    if (variable.space != Space::local) continue;
    const std::uint32_t offset = align(local_bytes, std::max(variable.alignment, 16u));
    m_addresses[variable.name] = offset;
    local_variables.push_back({variable.name, offset, variable.bytes});
    local_bytes = align(offset + static_cast<std::uint32_t>(variable.bytes), 16);
  }
}

std::optional<std::uint64_t> EntryLayout::address_of(const std::string& symbol) const {
  const auto found = m_addresses.find(symbol);
  if (found != m_addresses.end()) return found->second;
  return m_image.address_of(symbol);
}

}  // namespace cudaopt::sim

#include "sim/module_image.hpp"

#include <algorithm>
#include <cstring>

namespace cudaopt::sim {

ModuleImage::ModuleImage(ptx::Module module, std::string user_file, DeviceMemory& memory)
    : m_module(std::move(module)), m_user_file(std::move(user_file)) {
  place(memory);
  reset_variables(memory);
}

void ModuleImage::place(DeviceMemory& memory) {
  std::uint64_t constant_bytes = 0;
  for (const ptx::Variable& variable : m_module.variables) {
    if (variable.space == ptx::Space::global) {
      m_addresses[variable.name] = memory.create_variable(variable.name, variable.bytes);
    } else if (variable.space == ptx::Space::constant) {
      const std::uint64_t alignment = std::max<std::uint64_t>(variable.alignment, 1);
      constant_bytes = (constant_bytes + alignment - 1) / alignment * alignment;
      m_addresses[variable.name] = constant_bytes;
      m_constant_ranges.push_back({variable.name, constant_bytes, variable.bytes});
      constant_bytes += variable.bytes;
    }
  }
  m_constants.resize(constant_bytes);
}

void ModuleImage::reset_variables(DeviceMemory& memory) {
  for (const ptx::Variable& variable : m_module.variables) {
    const auto address = m_addresses.find(variable.name);
    if (address == m_addresses.end()) continue;
    const bool is_global = variable.space == ptx::Space::global;
    initialise(variable, is_global ? memory.variable_bytes(address->second)
                                   : m_constants.data() + address->second);
  }
}

void ModuleImage::initialise(const ptx::Variable& variable, std::uint8_t* to) const {
  if (variable.bytes == 0) return;
  std::memset(to, 0, variable.bytes);
  if (!variable.initial.empty()) std::memcpy(to, variable.initial.data(), variable.initial.size());
  for (const ptx::SymbolReference& reference : variable.references) {
    const std::uint64_t value = value_of(reference);
    const std::uint64_t bytes = std::min<std::uint64_t>(8, variable.bytes - reference.offset);
    std::memcpy(to + reference.offset, &value, bytes);
  }
}

std::uint64_t ModuleImage::value_of(const ptx::SymbolReference& reference) const {
  const auto found = m_addresses.find(reference.symbol);
  if (found == m_addresses.end()) return address_of(reference.symbol).value_or(0);
  const bool is_constant = found->second < kGlobalStride;
  const std::uint64_t window = reference.generic && is_constant ? kConstantWindow : 0;
  return found->second + window + static_cast<std::uint64_t>(reference.addend);
}

std::optional<std::uint64_t> ModuleImage::address_of(const std::string& variable) const {
  const auto found = m_addresses.find(variable);
  if (found != m_addresses.end()) return found->second;
  const ptx::Function* function = m_module.find(variable);
  if (function == nullptr) return std::nullopt;
  return address_of(*function);
}

std::uint64_t ModuleImage::address_of(const ptx::Function& function) const {
  const auto index = static_cast<std::uint64_t>(&function - m_module.functions.data());
  return kFunctionWindow + 16 * (index + 1);
}

}  // namespace cudaopt::sim

// A loaded module: its PTX, and where its .global and .const variables live.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/module.hpp"
#include "sim/device_memory.hpp"
#include "sim/program.hpp"

namespace cudaopt::sim {

class ModuleImage {
 public:
  // Allocates the variables in `memory` and gives them their initial values.
  ModuleImage(ptx::Module module, std::string user_file, DeviceMemory& memory);

  void reset_variables(DeviceMemory& memory);

  [[nodiscard]] const ptx::Module& module() const { return m_module; }
  [[nodiscard]] const std::string& user_file() const { return m_user_file; }
  // Within its own space: a device address, an offset in constant memory, or a function's address.
  [[nodiscard]] std::optional<std::uint64_t> address_of(const std::string& variable) const;
  [[nodiscard]] std::uint64_t address_of(const ptx::Function& function) const;
  [[nodiscard]] std::vector<std::uint8_t>& constant_bytes() { return m_constants; }
  [[nodiscard]] const std::vector<NamedRange>& constants() const { return m_constant_ranges; }

 private:
  void place(DeviceMemory& memory);
  void initialise(const ptx::Variable& variable, std::uint8_t* to) const;
  [[nodiscard]] std::uint64_t value_of(const ptx::SymbolReference& reference) const;

  ptx::Module m_module;
  std::string m_user_file;
  std::unordered_map<std::string, std::uint64_t> m_addresses;
  std::vector<std::uint8_t> m_constants;
  std::vector<NamedRange> m_constant_ranges;
};

}  // namespace cudaopt::sim

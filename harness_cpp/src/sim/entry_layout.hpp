// Where the names an entry uses live: shared and local variables, parameters, module variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/module.hpp"
#include "sim/module_image.hpp"

namespace cudaopt::sim {

class EntryLayout {
 public:
  EntryLayout(const ModuleImage& image, const ptx::Function& function);

  // The address within the symbol's own space; nullopt for functions and unknown names.
  [[nodiscard]] std::optional<std::uint64_t> address_of(const std::string& symbol) const;

  std::vector<NamedRange> shared_variables, local_variables;
  std::uint32_t static_shared_bytes = 0, dynamic_shared_offset = 0, local_bytes = 0;

 private:
  void place_shared(const std::vector<ptx::Variable>& variables, const ptx::Function& function);
  void place_local(const ptx::Function& function);
  void place_dynamic(const std::vector<ptx::Variable>& variables);

  const ModuleImage& m_image;
  std::unordered_map<std::string, std::uint64_t> m_addresses;
};

}  // namespace cudaopt::sim

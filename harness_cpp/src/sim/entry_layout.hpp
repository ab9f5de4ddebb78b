// Where the names live that an entry and the functions it calls use: shared and local variables,
// parameters, module variables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ptx/module.hpp"
#include "sim/module_image.hpp"

namespace cudaopt::sim {

class EntryLayout {
 public:
  // `callees` are the functions the entry may reach.
  EntryLayout(const ModuleImage& image, const ptx::Function& entry,
              const std::vector<const ptx::Function*>& callees);

  // The address within the symbol's own space; nullopt for unknown names and, in callees, for what
  // lies in their frames.
  [[nodiscard]] std::optional<std::uint64_t> address_of(const ptx::Function& function,
                                                        const std::string& symbol) const;

  // The local variables of one function, from the start of its frame.
  struct Locals {
    std::vector<NamedRange> variables;
    std::uint64_t bytes = 0;
    [[nodiscard]] const NamedRange* find(const std::string& name) const;
  };
  [[nodiscard]] const Locals& locals(const ptx::Function& function) const;

  std::vector<NamedRange> shared_variables;
  std::uint32_t static_shared_bytes = 0, dynamic_shared_offset = 0;

 private:
  using Addresses = std::unordered_map<std::string, std::uint64_t>;
  using Names = std::unordered_set<std::string>;

  void place_shared(const std::vector<ptx::Variable>& variables, const Names& used,
                    Addresses& addresses);
  void align_dynamic(const std::vector<ptx::Variable>& variables);
  void place_dynamic(const std::vector<ptx::Variable>& variables, Addresses& addresses) const;
  void place_local(const ptx::Function& function);

  const ModuleImage& m_image;
  Addresses m_addresses;
  std::unordered_map<const ptx::Function*, Addresses> m_own;
  std::unordered_map<const ptx::Function*, Locals> m_locals;
};

}  // namespace cudaopt::sim

// The names a function's body declares, scope by scope: registers, variables, labels.
// Inline assembly opens scopes that declare the same names again; each becomes a name of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/module.hpp"

namespace cudaopt::ptx {

using ScopeId = std::int32_t;

class Scopes {
 public:
  explicit Scopes(Function& function) : m_function(function) { m_scopes.emplace_back(); }

  [[nodiscard]] bool open();   // false: nested too deeply
  [[nodiscard]] bool close();  // false: only the outermost is left
  [[nodiscard]] ScopeId current() const { return m_current; }

  // A register of the function exists once something uses it.
  void declare_register(std::string_view name, RegisterClass type);
  void declare_registers(std::string_view prefix, std::uint64_t count, RegisterClass type);
  // Returns the name that is unique in the function.
  std::string declare_symbol(std::string_view name);

  struct Meaning {
    std::int32_t reg = -1;                // a register, or
    const std::string* symbol = nullptr;  // a variable declared in the body, or neither
  };
  [[nodiscard]] Meaning find(std::string_view name);
  [[nodiscard]] bool is_predicate(std::int32_t reg) const {
    return m_function.registers[static_cast<std::size_t>(reg)].type == RegisterClass::predicate;
  }

  // Labels may be used before they are defined: look them up when the body has ended.
  [[nodiscard]] bool define_label(std::string_view name, std::int32_t target);
  void define_targets(std::string_view name, std::vector<std::string_view> labels);
  [[nodiscard]] std::optional<std::int32_t> label(ScopeId scope, std::string_view name) const;
  [[nodiscard]] const std::vector<std::string_view>* targets(ScopeId scope,
                                                             std::string_view name) const;

 private:
  struct Name {
    RegisterClass type = RegisterClass::b32;
    std::int32_t reg = -1;
    std::string symbol;
  };
  struct Range {
    std::string_view prefix;
    std::uint64_t count = 0;
    RegisterClass type = RegisterClass::b32;
  };
  struct Scope {
    ScopeId parent = -1;
    int depth = 0;
    std::unordered_map<std::string_view, Name> names;
    std::vector<Range> ranges;
    std::unordered_map<std::string_view, std::int32_t> labels;
    std::unordered_map<std::string_view, std::vector<std::string_view>> targets;
  };

  [[nodiscard]] static std::optional<RegisterClass> in_range(const Scope& scope,
                                                             std::string_view name);
  [[nodiscard]] std::int32_t add_register(std::string_view name, RegisterClass type);
  [[nodiscard]] std::string unique(std::string_view name);

  Function& m_function;
  std::vector<Scope> m_scopes;  // closed ones too: labels are resolved at the end
  ScopeId m_current = 0;
  std::unordered_map<std::string_view, int> m_used;  // how often a name was declared
};

}  // namespace cudaopt::ptx

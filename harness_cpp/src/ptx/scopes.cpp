#include "ptx/scopes.hpp"

#include <charconv>

namespace cudaopt::ptx {

namespace {

// Names are looked up outward, scope by scope; compilers nest two or three deep.
constexpr int kMaxDepth = 64;

}  // namespace

bool Scopes::open() {
  const ScopeId parent = m_current;
  const int depth = m_scopes[parent].depth + 1;
  if (depth > kMaxDepth) return false;
  m_current = static_cast<ScopeId>(m_scopes.size());
  m_scopes.emplace_back();
  m_scopes.back().parent = parent;
  m_scopes.back().depth = depth;
  return true;
}

bool Scopes::close() {
  if (m_current == 0) return false;
  m_current = m_scopes[m_current].parent;
  return true;
}

void Scopes::declare_register(std::string_view name, RegisterClass type) {
  m_scopes[m_current].names[name] = {type, -1, {}};
}

void Scopes::declare_registers(std::string_view prefix, std::uint64_t count, RegisterClass type) {
  m_scopes[m_current].ranges.push_back({prefix, count, type});
}

std::string Scopes::declare_symbol(std::string_view name) {
  Name& entry = m_scopes[m_current].names[name];
  entry = {};
  entry.symbol = unique(name);
  return entry.symbol;
}

Scopes::Meaning Scopes::find(std::string_view name) {
  for (ScopeId id = m_current; id >= 0; id = m_scopes[id].parent) {
    Scope& scope = m_scopes[id];
    const auto known = scope.names.find(name);
    if (known != scope.names.end()) {
      Name& entry = known->second;
      if (!entry.symbol.empty()) return {-1, &entry.symbol};
      if (entry.reg < 0) entry.reg = add_register(name, entry.type);
      return {entry.reg, nullptr};
    }
    if (const auto type = in_range(scope, name)) {
      const std::int32_t reg = add_register(name, *type);
      scope.names[name] = {*type, reg, {}};
      return {reg, nullptr};
    }
  }
  return {};
}

bool Scopes::define_label(std::string_view name, std::int32_t target) {
  return m_scopes[m_current].labels.emplace(name, target).second;
}

void Scopes::define_targets(std::string_view name, std::vector<std::string_view> labels) {
  m_scopes[m_current].targets[name] = std::move(labels);
}

std::optional<std::int32_t> Scopes::label(ScopeId scope, std::string_view name) const {
  for (ScopeId id = scope; id >= 0; id = m_scopes[id].parent) {
    const auto known = m_scopes[id].labels.find(name);
    if (known != m_scopes[id].labels.end()) return known->second;
  }
  return std::nullopt;
}

const std::vector<std::string_view>* Scopes::targets(ScopeId scope, std::string_view name) const {
  for (ScopeId id = scope; id >= 0; id = m_scopes[id].parent) {
    const auto known = m_scopes[id].targets.find(name);
    if (known != m_scopes[id].targets.end()) return &known->second;
  }
  return nullptr;
}

std::optional<RegisterClass> Scopes::in_range(const Scope& scope, std::string_view name) {
  for (const Range& range : scope.ranges) {
    if (name.substr(0, range.prefix.size()) != range.prefix) continue;
    const std::string_view digits = name.substr(range.prefix.size());
    if (digits.size() > 1 && digits.front() == '0') continue;
    std::uint64_t number = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, number);
    if (error == std::errc() && stop == end && number < range.count) return range.type;
  }
  return std::nullopt;
}

std::int32_t Scopes::add_register(std::string_view name, RegisterClass type) {
  m_function.registers.push_back({unique(name), type});
  return static_cast<std::int32_t>(m_function.registers.size() - 1);
}

std::string Scopes::unique(std::string_view name) {
  // '#' is in no PTX name, so a numbered name meets no other.
  const int before = m_used[name]++;
  return before == 0 ? std::string(name) : std::string(name) + "#" + std::to_string(before);
}

}  // namespace cudaopt::ptx

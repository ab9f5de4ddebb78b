#include "sim/shadow_formats.hpp"

#include <algorithm>
#include <numeric>

namespace cudaopt::sim {
namespace {

using ptx::Operand;
using ptx::RegisterClass;

std::uint32_t register_bytes(RegisterClass type) {
  switch (type) {
    case RegisterClass::b16:
      return 2;
    case RegisterClass::b32:
      return 4;
    case RegisterClass::b64:
      return 8;
    default:
      return 0;
  }
}

bool is_arithmetic(ShadowRule rule) {
  return rule >= ShadowRule::add && rule <= ShadowRule::maximum;
}

}  // namespace

ShadowFormats::ShadowFormats(const ptx::Function& function, const std::vector<DescribedRule>& rules,
                             const std::vector<PlacedOperands>& operands)
    : m_function(function),
      m_parent(function.registers.size()),
      m_classes(function.registers.size()) {
  std::iota(m_parent.begin(), m_parent.end(), 0);
  for (std::size_t i = 0; i < rules.size(); ++i) read(rules[i], operands[i]);
  look_for_formats();
  settle();
  if (only_f32()) default_to_f32();
  settle();
  part_mixed_vectors();
}

std::int32_t ShadowFormats::find(std::int32_t reg) const {
  auto at = static_cast<std::size_t>(reg);
  while (m_parent[at] != static_cast<std::int32_t>(at)) {
    m_parent[at] = m_parent[static_cast<std::size_t>(m_parent[at])];
    at = static_cast<std::size_t>(m_parent[at]);
  }
  return static_cast<std::int32_t>(at);
}

void ShadowFormats::unite(std::int32_t a, std::int32_t b) {
  if (a < 0 || b < 0) return;
  const std::int32_t from = find(a), to = find(b);
  if (from == to) return;
  const Class joined = m_classes[static_cast<std::size_t>(from)];
  m_parent[static_cast<std::size_t>(from)] = to;
  Class& into = of(to);
  into.mixed |= joined.mixed;
  into.carries |= joined.carries;
  into.loaded |= joined.loaded;
  into.integer |= joined.integer;
  if (joined.numbers.format != Number::none) name(to, joined.numbers);
}

void ShadowFormats::name(std::int32_t reg, Numbers numbers) {
  if (reg < 0 || numbers.format == Number::none || numbers.format == Number::f64) return;
  const RegisterClass held = m_function.registers[static_cast<std::size_t>(reg)].type;
  if (bytes_of(numbers.format) * numbers.count > register_bytes(held)) return;
  Class& into = of(reg);
  if (into.numbers.format != Number::none && !(into.numbers == numbers)) into.mixed = true;
  into.numbers = numbers;
}

void ShadowFormats::name_all(const std::vector<const Operand*>& operands, Numbers numbers) {
  for (const Operand* operand : operands) name(register_of(operand), numbers);
}

void ShadowFormats::carry(const std::vector<const Operand*>& operands) {
  for (const Operand* operand : operands) {
    if (const std::int32_t reg = register_of(operand); reg >= 0) of(reg).carries = true;
  }
}

void ShadowFormats::use_as_integers(const std::vector<const Operand*>& operands) {
  for (const Operand* operand : operands) {
    if (const std::int32_t reg = register_of(operand); reg >= 0) of(reg).integer = true;
  }
}

void ShadowFormats::read(const DescribedRule& rule, const PlacedOperands& operands) {
  const auto& [results, sources] = operands;
  const std::int32_t result = results.empty() ? -1 : register_of(results[0]);
  switch (rule.rule) {
    case ShadowRule::move:
    case ShadowRule::select:
    case ShadowRule::shuffle:
    case ShadowRule::sign_bits:
      return read_move(rule, operands);
    case ShadowRule::load:
    case ShadowRule::store:
    case ShadowRule::atomic_add:
    case ShadowRule::atomic_swap:
      return read_memory(rule, operands);
    case ShadowRule::branch:
      return;
    default:
      break;
  }
  const bool of_bits = is_arithmetic(rule.rule) && rule.from.format == Number::none;
  if (of_bits) return unite(result, register_of(sources[0]));
  if (rule.from.format != Number::none) {
    name_all(sources, rule.from);
  } else {
    use_as_integers(sources);
  }
  if (rule.opaque) {
    for (const Operand* operand : results) {
      if (const std::int32_t reg = register_of(operand); reg >= 0) of(reg).mixed = true;
    }
  }
  if (rule.to.format == Number::none) return use_as_integers(results);
  name_all(results, rule.to);
  if (rule.rule != ShadowRule::other && rule.rule != ShadowRule::compare) carry(results);
}

void ShadowFormats::read_move(const DescribedRule& rule, const PlacedOperands& operands) {
  const auto& [results, sources] = operands;
  name_all(results, rule.to);
  if (results.empty() || sources.empty()) return;
  const std::int32_t result = register_of(results[0]);
  if (rule.rule == ShadowRule::sign_bits) {
    m_signs.push_back({result, register_of(sources[0]), register_of(sources[1])});
    return;
  }
  if (rule.rule == ShadowRule::select) {
    unite(result, register_of(sources[0]));
    return unite(result, register_of(sources[1]));
  }
  if (rule.rule == ShadowRule::shuffle) return unite(result, register_of(sources[0]));
  if (results.size() == sources.size()) {
    for (std::size_t k = 0; k < results.size(); ++k)
      unite(register_of(results[k]), register_of(sources[k]));
    return;
  }
  const bool packs = results.size() == 1;
  Packing packing{packs ? result : register_of(sources[0]), {}};
  for (const Operand* part : packs ? sources : results) packing.parts.push_back(register_of(part));
  if (packing.whole >= 0) m_packings.push_back(std::move(packing));
}

void ShadowFormats::read_memory(const DescribedRule& rule, const PlacedOperands& operands) {
  const auto& [results, sources] = operands;
  if (rule.rule == ShadowRule::store) {
    for (std::size_t k = 1; k < sources.size(); ++k) name(register_of(sources[k]), rule.from);
    return;
  }
  name_all(results, rule.to);
  if (rule.rule == ShadowRule::atomic_add) {
    carry(results);
    return name(register_of(sources[1]), rule.from);
  }
  if (rule.rule == ShadowRule::atomic_swap) {
    for (std::size_t k = 1; k < sources.size(); ++k) {
      unite(register_of(sources[k]), register_of(sources[1]));
      if (!results.empty()) unite(register_of(results[0]), register_of(sources[k]));
    }
  }
  carry(results);
  m_vectors.push_back({});
  for (const Operand* operand : results) {
    m_vectors.back().push_back(register_of(operand));
    if (const std::int32_t reg = register_of(operand); reg >= 0) of(reg).loaded = true;
  }
}

// A register of parts holds as many numbers as it has parts, and the other way round. Whether
// anything changed.
bool ShadowFormats::settle_packing(const Packing& packing) {
  Class& whole = of(packing.whole);
  bool changed = false;
  Numbers part = whole.numbers;
  for (const std::int32_t reg : packing.parts) {
    if (reg >= 0 && of(reg).numbers.format != Number::none) part = {of(reg).numbers.format, 1};
  }
  if (part.format == Number::none) return false;
  const auto count = static_cast<std::uint8_t>(packing.parts.size());
  const Numbers all{part.format, count};
  const std::uint32_t bytes =
      register_bytes(m_function.registers[static_cast<std::size_t>(packing.whole)].type);
  if (bytes_of(all.format) * count != bytes) return false;
  changed |= !(whole.numbers == all);
  name(packing.whole, all);
  bool carries = whole.carries;
  for (const std::int32_t reg : packing.parts) {
    if (reg < 0) continue;
    changed |= of(reg).numbers.format == Number::none;
    name(reg, {part.format, 1});
    carries |= of(reg).carries;
  }
  changed |= whole.carries != carries;
  whole.carries = carries;
  for (const std::int32_t reg : packing.parts) {
    if (reg < 0) continue;
    changed |= of(reg).carries != carries;
    of(reg).carries = carries;
  }
  return changed;
}

bool ShadowFormats::settle_sign(const SignBits& sign) {
  const int source = number_of(sign);
  if (source < 0 || of(sign.result).carries) return false;
  of(sign.result).carries = of(sign.sources[source]).carries;
  return of(sign.result).carries;
}

int ShadowFormats::number_of(const SignBits& sign) const {
  const Numbers f32{Number::f32, 1};
  const bool first = numbers(sign.sources[0]) == f32, second = numbers(sign.sources[1]) == f32;
  if (!(numbers(sign.result) == f32) || first == second) return -1;
  return first ? 0 : 1;
}

void ShadowFormats::settle() {
  bool changed = true;
  // Classes only ever gain, so this ends; the bound is for a class that two packings pull apart.
  const std::size_t most = (m_packings.size() + m_signs.size()) * 4;
  for (std::size_t i = 0; changed && i <= most; ++i) {
    changed = false;
    for (const Packing& packing : m_packings) changed |= settle_packing(packing);
    for (const SignBits& sign : m_signs) changed |= settle_sign(sign);
  }
  look_for_formats();
}

void ShadowFormats::default_to_f32() {
  for (std::size_t reg = 0; reg < m_parent.size(); ++reg) {
    const auto index = static_cast<std::int32_t>(reg);
    if (find(index) != index || m_function.registers[reg].type != RegisterClass::b32) continue;
    const Class& unnamed = m_classes[reg];
    const bool moved = unnamed.loaded && !unnamed.integer;
    if (moved && unnamed.numbers.format == Number::none) name(index, {Number::f32, 1});
  }
}

// One access moves one format. Registers of two are left without a shadow.
void ShadowFormats::part_mixed_vectors() {
  for (const std::vector<std::int32_t>& registers : m_vectors) {
    Numbers first;
    bool mixed = false;
    for (const std::int32_t reg : registers) {
      if (numbers(reg).format == Number::none) continue;
      mixed |= first.format != Number::none && !(first == numbers(reg));
      first = numbers(reg);
    }
    for (const std::int32_t reg : registers) {
      if (mixed && reg >= 0) of(reg).mixed = true;
    }
  }
}

void ShadowFormats::look_for_formats() {
  for (std::size_t reg = 0; reg < m_parent.size(); ++reg) {
    const Class& each = of(static_cast<std::int32_t>(reg));
    m_any |= each.numbers.format != Number::none;
    m_halves |= each.numbers.format == Number::f16 || each.numbers.format == Number::bf16;
  }
}

Numbers ShadowFormats::numbers(std::int32_t reg) const {
  if (reg < 0) return {};
  const Class& held = m_classes[static_cast<std::size_t>(find(reg))];
  return held.mixed ? Numbers{} : held.numbers;
}

bool ShadowFormats::has_shadow(std::int32_t reg) const {
  if (reg < 0) return false;
  const Class& held = m_classes[static_cast<std::size_t>(find(reg))];
  return held.carries && numbers(reg).format != Number::none;
}

}  // namespace cudaopt::sim

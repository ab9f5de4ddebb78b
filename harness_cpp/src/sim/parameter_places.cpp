#include "sim/parameter_places.hpp"

#include <algorithm>
#include <vector>

namespace cudaopt::sim {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Operand;

constexpr std::int32_t kWordBytes = kLanes * 4;
// 8 MiB of a warp's registers; more is no program anyone compiled.
constexpr std::uint32_t kMostWords = 1u << 16;

// Where a call sequence uses one of its variables.
struct Extent {
  const ptx::Variable* variable = nullptr;
  std::int32_t first = INT32_MAX, last = -1;
  bool shareable = true;  // written first, and nowhere but in one basic block

  [[nodiscard]] std::uint32_t words() const {
    return static_cast<std::uint32_t>((variable->bytes + 3) / 4);
  }
};

using Extents = std::unordered_map<std::string, Extent>;

void note_use(const Operand& operand, std::int32_t index, bool reads, const ptx::ControlFlow& flow,
              Extents& extents) {
  if (operand.kind == Operand::Kind::symbol) {
    const auto found = extents.find(operand.name);
    if (found == extents.end()) return;
    Extent& extent = found->second;
    const auto block_of = [&](std::int32_t i) {
      return flow.block_of[static_cast<std::size_t>(i)];
    };
    const bool first = extent.last < 0;
    if (first ? reads : block_of(extent.first) != block_of(index)) extent.shareable = false;
    extent.first = std::min(extent.first, index);
    extent.last = std::max(extent.last, index);
  }
  for (const Operand& element : operand.elements) note_use(element, index, reads, flow, extents);
}

Extents find_extents(const Function& function, const ptx::ControlFlow& flow) {
  Extents extents;
  for (const ptx::Variable& variable : function.variables) {
    if (variable.space == ptx::Space::param) extents[variable.name].variable = &variable;
  }
  if (extents.empty()) return extents;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction& instruction = function.instructions[i];
    const bool reads = instruction.opcode != "st" && instruction.opcode != "call";
    for (const Operand& operand : instruction.operands) {
      note_use(operand, static_cast<std::int32_t>(i), reads, flow, extents);
    }
  }
  return extents;
}

// The lowest words that none of `busy` covers.
std::uint32_t lowest_gap(std::vector<std::pair<std::uint32_t, Extent>>& busy, std::uint32_t words) {
  std::sort(busy.begin(), busy.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::uint32_t at = 0;
  for (const auto& [begin, extent] : busy) {
    if (at + words <= begin) break;
    at = std::max(at, begin + extent.words());
  }
  return at;
}

}  // namespace

ParameterPlaces::ParameterPlaces(const Function& function, const ptx::ControlFlow& flow) {
  if (!function.entry) {
    for (const ptx::Parameter& one : function.parameters) place_forever(one.name, one.bytes);
    for (const ptx::Parameter& one : function.results) place_forever(one.name, one.bytes);
  }
  std::vector<Extent> shareable;
  for (const auto& [name, extent] : find_extents(function, flow)) {
    const bool used = extent.last >= 0;
    if (used && extent.shareable && extent.variable->bytes <= kMostParameterBytes) {
      shareable.push_back(extent);
    } else if (used) {
      place_forever(name, extent.variable->bytes);
    }
  }
  std::sort(shareable.begin(), shareable.end(),
            [](const Extent& a, const Extent& b) { return a.first < b.first; });
  const std::uint32_t begin = m_words;
  std::vector<std::pair<std::uint32_t, Extent>> busy;
  for (const Extent& extent : shareable) {
    busy.erase(std::remove_if(busy.begin(), busy.end(),
                              [&](const auto& one) { return one.second.last < extent.first; }),
               busy.end());
    const std::uint32_t at = lowest_gap(busy, extent.words());
    if (begin + at + extent.words() > kMostWords) continue;
    busy.emplace_back(at, extent);
    m_places[extent.variable->name] = {static_cast<std::int32_t>(begin + at) * kWordBytes,
                                       static_cast<std::uint32_t>(extent.variable->bytes)};
    m_words = std::max(m_words, begin + at + extent.words());
  }
}

void ParameterPlaces::place_forever(const std::string& name, std::uint64_t bytes) {
  const auto words = static_cast<std::uint32_t>((std::min(bytes, kMostParameterBytes) + 3) / 4);
  if (bytes > kMostParameterBytes || m_words + words > kMostWords) return;
  m_places[name] = {static_cast<std::int32_t>(m_words) * kWordBytes,
                    static_cast<std::uint32_t>(bytes)};
  m_words += words;
}

void ParameterPlaces::move_to(std::int32_t offset) {
  for (auto& [name, words] : m_places) words.offset += offset;
}

const ParameterWords* ParameterPlaces::find(const std::string& name) const {
  const auto found = m_places.find(name);
  return found == m_places.end() ? nullptr : &found->second;
}

}  // namespace cudaopt::sim

#include "sim/line_counts.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ptx/source_lines.hpp"

namespace cudaopt::sim {
namespace {

using Place = std::pair<std::string, int>;

std::optional<Place> place_of(const Program& program, const Op& op) {
  const ptx::Instruction* instruction = program.instruction_of(op);
  if (instruction == nullptr) return std::nullopt;
  const auto at = ptx::user_lines(*program.module, instruction->location, program.user_file).at;
  if (!at) return std::nullopt;
  return Place(at->file, at->line);
}

}  // namespace

ProgramLines program_lines(const Program& program) {
  std::vector<std::optional<Place>> places;
  std::map<Place, std::int32_t> index;
  for (const Op& op : program.code) {
    places.push_back(place_of(program, op));
    if (places.back()) index[*places.back()] = 0;
  }
  ProgramLines result;
  for (auto& [place, at] : index) {
    at = static_cast<std::int32_t>(result.lines.size());
    result.lines.push_back({place.first, place.second});
  }
  for (const auto& place : places) result.of_op.push_back(place ? index.at(*place) : -1);
  return result;
}

void LineCounts::executed(const Op& op, const Counters& now) {
  const std::int32_t line = m_lines.of_op[static_cast<std::size_t>(op.pc)];
  if (line >= 0) {
    Counters& counts = m_counts[static_cast<std::size_t>(line)];
    ++counts.warp_instructions[static_cast<std::size_t>(op.pipe)];
    for (const auto counter : kSummedCounters) counts.*counter += now.*counter - m_before.*counter;
  }
  m_before = now;
}

}  // namespace cudaopt::sim

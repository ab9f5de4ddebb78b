// Counters of each source line, of a block that is executed one instruction at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.hpp"

namespace cudaopt::sim {

// The lines that a program's instructions have in the user's own files, by file and number.
struct ProgramLines {
  std::vector<SourcePoint> lines;
  std::vector<std::int32_t> of_op;  // by pc, an index into `lines`; -1: the op has none
};

[[nodiscard]] ProgramLines program_lines(const Program& program);

class LineCounts {
 public:
  // `lines` outlives the counts.
  explicit LineCounts(const ProgramLines& lines) : m_lines(lines), m_counts(lines.lines.size()) {}

  // After `op` executed; `now` is what the block's instructions have counted in all.
  void executed(const Op& op, const Counters& now);

  // By index in `ProgramLines::lines`.
  [[nodiscard]] const std::vector<Counters>& counts() const { return m_counts; }

 private:
  const ProgramLines& m_lines;
  std::vector<Counters> m_counts;
  Counters m_before;
};

}  // namespace cudaopt::sim

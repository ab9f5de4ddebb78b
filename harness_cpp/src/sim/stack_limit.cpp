#include "sim/stack_limit.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace cudaopt::sim {
namespace {

// Return address, mask and what aligning local memory costs.
constexpr std::uint32_t kReturnBytes = 16;
// More than any device has; sums of it cannot overflow.
constexpr std::uint32_t kMostStackBytes = 1u << 28;

class CallChains {
 public:
  explicit CallChains(const Program& program)
      : m_callees(program.routines.size() + 1), m_known(m_callees.size()) {
    for (const Routine& routine : program.routines) m_bytes.push_back(stack_bytes_of(routine));
    m_bytes.push_back(0);  // the kernel itself comes last
    for (const CallSite& call : program.calls) {
      std::vector<std::size_t>& callees = m_callees[index_of(call.caller)];
      if (call.routine >= 0) {
        callees.push_back(static_cast<std::size_t>(call.routine));
        continue;
      }
      // A pointer may name any of them.
      for (std::size_t i = 0; i < program.routines.size(); ++i) callees.push_back(i);
    }
  }

  // nullopt: some function may call itself.
  [[nodiscard]] std::optional<std::uint32_t> deepest() { return below(m_callees.size() - 1); }

 private:
  enum class State : std::uint8_t { unknown, open, known };
  struct Known {
    State state = State::unknown;
    std::uint32_t bytes = 0;
  };

  [[nodiscard]] std::size_t index_of(std::int32_t routine) const {
    return routine < 0 ? m_callees.size() - 1 : static_cast<std::size_t>(routine);
  }

  [[nodiscard]] std::optional<std::uint32_t> below(std::size_t function) {
    Known& known = m_known[function];
    if (known.state == State::open) return std::nullopt;
    if (known.state == State::known) return known.bytes;
    known.state = State::open;
    for (const std::size_t callee : m_callees[function]) {
      const auto chain = below(callee);
      if (!chain) return std::nullopt;
      known.bytes = std::max(known.bytes, std::min(*chain + m_bytes[callee], kMostStackBytes));
    }
    known.state = State::known;
    return known.bytes;
  }

  std::vector<std::vector<std::size_t>> m_callees;
  std::vector<Known> m_known;
  std::vector<std::uint32_t> m_bytes;
};

}  // namespace

std::uint32_t stack_bytes_of(const Routine& routine) {
  return std::min(routine.local_bytes, kMostStackBytes) + routine.written_register_bytes / kLanes +
         kReturnBytes;
}

std::uint32_t stack_limit(const Program& program, bool uses_alloca) {
  const auto deepest = CallChains(program).deepest();
  if (deepest && !uses_alloca) return *deepest;
  std::uint32_t bytes = kRecursionBytes;
  for (const Routine& routine : program.routines) {
    bytes = std::min(bytes + stack_bytes_of(routine), kMostStackBytes);
  }
  return bytes;
}

}  // namespace cudaopt::sim

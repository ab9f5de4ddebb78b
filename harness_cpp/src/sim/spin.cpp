#include "sim/spin.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "sim/frames.hpp"
#include "sim/memory.hpp"
#include "sim/turns.hpp"

namespace cudaopt::sim {
namespace {

// Instructions after which lanes yield. Long enough that loops of lanes that soon leave them end by
// themselves; once lanes had to yield they are known to need it, and a lock changes hands quickly.
constexpr std::uint32_t kPatience = 2 * kSlice, kShortPatience = 64;

constexpr int kLongestLoop = 2048;  // instructions

std::uint64_t sum_at(const std::vector<std::int32_t>& pcs,
                     const std::vector<std::uint64_t>& by_pc) {
  std::uint64_t sum = 0;
  for (const std::int32_t pc : pcs) sum += by_pc[static_cast<std::size_t>(pc)];
  return sum;
}

bool contains(const std::vector<std::int32_t>& pcs, std::int32_t pc) {
  return std::binary_search(pcs.begin(), pcs.end(), pc);
}

const FrameLayout& layout_of(const Warp& warp) {
  const Routine* routine = warp.frame->routine;
  if (routine != nullptr) return *routine;
  return *warp.launch->program;
}

// Registers and place of a warp, of the call it is in: those of its callers stay as they are.
struct State {
  explicit State(const Warp& warp) {
    const FrameLayout& layout = layout_of(warp);
    registers.assign(warp.registers, warp.registers + layout.register_bytes);
    predicates.assign(warp.predicates, warp.predicates + layout.predicates);
    frame = warp.frame;
    pc = warp.pc;
    active = warp.active;
    splits = warp.split_count;
    carry = warp.carry;
  }
  [[nodiscard]] bool is_that_of(const Warp& warp) const {
    return warp.frame == frame && warp.pc == pc && warp.active == active &&
           warp.split_count == splits && warp.carry == carry &&
           std::memcmp(registers.data(), warp.registers, registers.size()) == 0 &&
           std::equal(predicates.begin(), predicates.end(), warp.predicates);
  }
  std::vector<std::uint8_t> registers;
  std::vector<std::uint32_t> predicates;
  std::int32_t pc, splits;
  std::uint32_t active, carry;
  const Frame* frame;
};

ptx::Space space_of(const ptx::Instruction& instruction) {
  if (instruction.has("global")) return ptx::Space::global;
  const bool shared = instruction.has("shared") || instruction.has("shared::cta");
  return shared ? ptx::Space::shared : ptx::Space::none;
}

std::uint32_t bytes_of(std::string_view type) {
  if (type.find("64") != std::string_view::npos) return 8;
  return type.size() >= 2 && type.substr(type.size() - 2) == "16" ? 2 : 4;
}

// The memory an atomic is about to change, by lane.
class Words {
 public:
  Words(Warp& warp, const Op& op, const ptx::Instruction& instruction, std::uint32_t mask)
      : m_mask(mask), m_bytes(bytes_of(instruction.type())) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const auto at = static_cast<std::size_t>(lane);
      m_host[at] = resolve(warp, op, space_of(instruction), effective_address(warp, op, lane),
                           m_bytes, lane, AccessKind::atomic);
      std::memcpy(&m_before[at], m_host[at], m_bytes);
    }
  }
  [[nodiscard]] bool are_unchanged() const {
    for (std::uint32_t rest = m_mask; rest != 0; rest &= rest - 1) {
      const auto at = static_cast<std::size_t>(__builtin_ctz(rest));
      if (std::memcmp(&m_before[at], m_host[at], m_bytes) != 0) return false;
    }
    return true;
  }

 private:
  std::uint32_t m_mask, m_bytes;
  std::array<const std::uint8_t*, kLanes> m_host{};
  std::array<std::uint64_t, kLanes> m_before{};
};

// False: the next instruction of the warp does something, or may.
bool step_idly(Warp& warp, RunSlice run_slice, std::uint64_t* executed) {
  const Program& program = *warp.launch->program;
  const Op& op = program.code[static_cast<std::size_t>(warp.pc)];
  if (const ptx::Instruction* instruction = program.instruction_of(op)) {
    if (contains(program.storing, op.pc) || instruction->opcode == "call") return false;
    if (instruction->opcode == "atom") {
      const Words words(warp, op, *instruction, executing_lanes(warp, op));
      run_slice(warp, program.code.data(), 1, executed);
      return words.are_unchanged();
    }
  }
  run_slice(warp, program.code.data(), 1, executed);
  return warp.state == WarpState::running;
}

}  // namespace

SpinWatch::SpinWatch() : m_patience(kPatience) {}

void SpinWatch::begin_turn(const Program& program, const std::vector<std::uint64_t>& by_pc) {
  if (program.polling.empty()) return;
  m_polls_before = sum_at(program.polling, by_pc);
  m_stores_before = sum_at(program.storing, by_pc);
}

void SpinWatch::end_turn(const Program& program, const std::vector<std::uint64_t>& by_pc,
                         std::uint32_t executed) {
  if (program.polling.empty()) return;
  if (sum_at(program.storing, by_pc) != m_stores_before) {
    m_polls = m_instructions = m_spun = 0;
    m_spins = false;
    return;
  }
  m_polls += sum_at(program.polling, by_pc) - m_polls_before;
  m_instructions += executed;
  if (m_instructions < longest_turn()) return;
  m_spins = m_polls >= (m_spins ? 1 : 2);
  m_spun = m_spins ? m_spun + m_instructions : 0;
  m_polls = 0;
  m_instructions = 0;
}

void SpinWatch::has_yielded() {
  m_spun = 0;
  m_patience = kShortPatience;
}

std::uint32_t SpinWatch::longest_turn() const {
  return m_spins || m_patience == kShortPatience ? kShortPatience : kSlice;
}

std::int32_t spin_of(Warp& warp, RunSlice run_slice, std::uint64_t* executed) {
  const State before(warp);
  std::int32_t polled = -1;
  for (int i = 0; i < kLongestLoop; ++i) {
    if (contains(warp.launch->program->polling, warp.pc)) polled = warp.pc;
    if (!step_idly(warp, run_slice, executed)) return -1;
    if (before.is_that_of(warp)) return polled;
  }
  return -1;
}

}  // namespace cudaopt::sim

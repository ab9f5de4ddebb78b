#include "ptx/control_flow.hpp"

#include <algorithm>

namespace cudaopt::ptx {

namespace {

enum class Ending { falls_through, branches, leaves };

Ending ending_of(const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "bra" || opcode == "brx") return Ending::branches;
  if (opcode == "ret" || opcode == "exit") return Ending::leaves;
  return Ending::falls_through;
}

// The instructions a branch may go to: one, or a table of them.
std::vector<std::int32_t> targets_of(const Instruction& branch) {
  const Operand& last = branch.operands.back();
  if (last.kind == Operand::Kind::label) return {last.target};
  std::vector<std::int32_t> targets;
  for (const Operand& label : last.elements) targets.push_back(label.target);
  return targets;
}

// True where a block begins.
std::vector<bool> find_leaders(const Function& function) {
  const std::vector<Instruction>& instructions = function.instructions;
  std::vector<bool> leaders(instructions.size() + 1, false);
  leaders[0] = true;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    const Ending ending = ending_of(instructions[i]);
    if (ending == Ending::falls_through) continue;
    leaders[i + 1] = true;
    if (ending == Ending::branches)
      for (const std::int32_t target : targets_of(instructions[i])) leaders[target] = true;
  }
  return leaders;
}

void cut_blocks(const Function& function, ControlFlow& flow) {
  const std::vector<bool> leaders = find_leaders(function);
  const auto count = static_cast<std::int32_t>(function.instructions.size());
  flow.block_of.resize(count);
  for (std::int32_t i = 0; i < count; ++i) {
    if (leaders[i]) {
      flow.blocks.emplace_back();
      flow.blocks.back().first = i;
    }
    flow.blocks.back().end = i + 1;
    flow.block_of[i] = static_cast<std::int32_t>(flow.blocks.size() - 1);
  }
}

void link_block(const Function& function, ControlFlow& flow, BasicBlock& block) {
  const auto add = [&](std::int32_t instruction) {
    const bool past_end = instruction == static_cast<std::int32_t>(flow.block_of.size());
    const std::int32_t successor = past_end ? kExit : flow.block_of[instruction];
    auto& known = block.successors;
    if (std::find(known.begin(), known.end(), successor) == known.end()) known.push_back(successor);
  };
  const Instruction& last = function.instructions[block.end - 1];
  const Ending ending = ending_of(last);
  if (ending == Ending::branches)
    for (const std::int32_t target : targets_of(last)) add(target);
  if (ending == Ending::leaves) block.successors.push_back(kExit);
  if (ending == Ending::falls_through || last.guard >= 0) add(block.end);
}

// Immediate post-dominators: dominators of the reversed graph, found by the iteration of Cooper,
// Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). The exit is node
// `blocks.size()`.
class PostDominators {
 public:
  explicit PostDominators(ControlFlow& flow)
      : m_blocks(flow.blocks), m_exit(static_cast<std::int32_t>(flow.blocks.size())) {}

  void find() {
    collect_predecessors();
    number_from_exit();
    m_dominator.assign(m_blocks.size() + 1, kUnknown);
    m_dominator[m_exit] = m_exit;
    while (improve()) {
    }
    // Blocks that never leave (an endless loop) keep kExit.
    for (std::int32_t b = 0; b < m_exit; ++b) {
      const std::int32_t found = m_dominator[b];
      m_blocks[b].post_dominator = found == kUnknown || found == m_exit ? kExit : found;
    }
  }

 private:
  static constexpr std::int32_t kUnknown = -2;

  [[nodiscard]] std::int32_t node(std::int32_t successor) const {
    return successor == kExit ? m_exit : successor;
  }

  void collect_predecessors() {
    m_predecessors.resize(m_blocks.size() + 1);
    for (std::int32_t b = 0; b < m_exit; ++b)
      for (const std::int32_t s : m_blocks[b].successors) m_predecessors[node(s)].push_back(b);
  }

  // Depth first from the exit, against the edges; without recursion, as blocks may be many.
  void number_from_exit() {
    m_number.assign(m_blocks.size() + 1, kUnknown);
    std::vector<std::pair<std::int32_t, std::size_t>> path{{m_exit, 0}};
    m_number[m_exit] = 0;  // seen; the final number follows
    while (!path.empty()) {
      auto& [block, next] = path.back();
      if (next < m_predecessors[block].size()) {
        const std::int32_t predecessor = m_predecessors[block][next++];
        if (m_number[predecessor] != kUnknown) continue;
        m_number[predecessor] = 0;
        path.emplace_back(predecessor, 0);
      } else {
        m_number[block] = static_cast<std::int32_t>(m_postorder.size());
        m_postorder.push_back(block);
        path.pop_back();
      }
    }
  }

  [[nodiscard]] bool improve() {
    bool changed = false;
    for (auto block = m_postorder.rbegin(); block != m_postorder.rend(); ++block) {
      if (*block == m_exit) continue;
      std::int32_t meet = kUnknown;
      for (const std::int32_t s : m_blocks[*block].successors) {
        if (m_dominator[node(s)] == kUnknown) continue;
        meet = meet == kUnknown ? node(s) : intersect(meet, node(s));
      }
      changed |= m_dominator[*block] != meet;
      m_dominator[*block] = meet;
    }
    return changed;
  }

  [[nodiscard]] std::int32_t intersect(std::int32_t a, std::int32_t b) const {
    while (a != b) {
      while (m_number[a] < m_number[b]) a = m_dominator[a];
      while (m_number[b] < m_number[a]) b = m_dominator[b];
    }
    return a;
  }

  std::vector<BasicBlock>& m_blocks;
  std::int32_t m_exit;
  std::vector<std::vector<std::int32_t>> m_predecessors;
  std::vector<std::int32_t> m_number, m_postorder, m_dominator;
};

}  // namespace

void set_post_dominators(ControlFlow& flow) { PostDominators(flow).find(); }

ControlFlow build_control_flow(const Function& function) {
  ControlFlow flow;
  if (function.instructions.empty()) return flow;
  cut_blocks(function, flow);
  for (BasicBlock& block : flow.blocks) link_block(function, flow, block);
  set_post_dominators(flow);
  return flow;
}

}  // namespace cudaopt::ptx

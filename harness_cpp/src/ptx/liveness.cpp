// Where each register lives, and which registers may share a slot.
#include <algorithm>

#include "ptx/control_flow.hpp"

namespace cudaopt::ptx {

namespace {

// First and last instruction between which a register holds a value anyone may still read.
struct Extent {
  std::int32_t first = INT32_MAX, last = -1;
  [[nodiscard]] bool used() const { return last >= 0; }
  void include(std::int32_t instruction) {
    first = std::min(first, instruction);
    last = std::max(last, instruction);
  }
};

// What a block does with a register before anything else in it.
enum class Touch : std::uint8_t { reads_first, writes_first };

struct BlockTouch {
  std::int32_t reg = 0, block = 0;
  Touch touch = Touch::reads_first;
};

class Liveness {
 public:
  Liveness(const Function& function, const ControlFlow& flow)
      : m_function(function),
        m_flow(flow),
        m_extents(function.registers.size()),
        m_touched_in(function.registers.size(), -1),
        m_predecessors(flow.blocks.size()) {}

  [[nodiscard]] std::vector<Extent> find() {
    for (std::size_t b = 0; b < m_flow.blocks.size(); ++b)
      for (const std::int32_t s : m_flow.blocks[b].successors)
        if (s != kExit) m_predecessors[s].push_back(static_cast<std::int32_t>(b));
    for (std::size_t i = 0; i < m_function.instructions.size(); ++i)
      scan(static_cast<std::int32_t>(i));
    std::sort(m_touches.begin(), m_touches.end(),
              [](const BlockTouch& a, const BlockTouch& b) { return a.reg < b.reg; });
    m_written.assign(m_flow.blocks.size(), -1);
    m_live_in.assign(m_flow.blocks.size(), -1);
    for (auto begin = m_touches.begin(); begin != m_touches.end();) begin = spread(begin);
    return std::move(m_extents);
  }

  [[nodiscard]] bool reads_unwritten() const { return m_reads_unwritten; }

 private:
  // Sources first: in `add r, r, 1` the register is read before it is written.
  void scan(std::int32_t index) {
    const Instruction& instruction = m_function.instructions[index];
    const std::vector<std::int32_t> written = written_operands(instruction);
    const auto is_written = [&](std::size_t operand) {
      return std::find(written.begin(), written.end(), static_cast<std::int32_t>(operand)) !=
             written.end();
    };
    // A guarded write leaves the lanes it does not reach, and wgmma adds to what it finds: both
    // read what they write.
    const bool keeps_old = instruction.guard >= 0 || instruction.opcode == "wgmma";
    if (instruction.guard >= 0) touch(instruction.guard, index, Touch::reads_first);
    for (std::size_t i = 0; i < instruction.operands.size(); ++i)
      if (keeps_old || !is_written(i)) touch(instruction.operands[i], index, Touch::reads_first);
    for (const std::int32_t i : written) touch(instruction.operands[i], index, Touch::writes_first);
  }

  void touch(const Operand& operand, std::int32_t index, Touch how) {
    if (operand.kind == Operand::Kind::reg) touch(operand.reg, index, how);
    for (const Operand& element : operand.elements) touch(element, index, how);
  }

  void touch(std::int32_t reg, std::int32_t index, Touch how) {
    m_extents[reg].include(index);
    const std::int32_t block = m_flow.block_of[index];
    if (m_touched_in[reg] == block) return;
    m_touched_in[reg] = block;
    m_touches.push_back({reg, block, how});
  }

  // Walks from the blocks that read one register back to those that write it, as in Boissinot et
  // al., "Computing Liveness Sets for SSA-Form Programs" (2011), section on liveness by use.
  std::vector<BlockTouch>::iterator spread(std::vector<BlockTouch>::iterator begin) {
    const std::int32_t reg = begin->reg;
    const auto end = std::find_if(begin, m_touches.end(),
                                  [&](const BlockTouch& touch) { return touch.reg != reg; });
    for (auto touch = begin; touch != end; ++touch)
      if (touch->touch == Touch::writes_first) m_written[touch->block] = reg;
    for (auto touch = begin; touch != end; ++touch)
      if (touch->touch == Touch::reads_first) mark_live_in(reg, touch->block);
    while (!m_pending.empty()) {
      const std::int32_t block = m_pending.back();
      m_pending.pop_back();
      m_extents[reg].include(m_flow.blocks[block].first);
      for (const std::int32_t before : m_predecessors[block]) {
        m_extents[reg].include(m_flow.blocks[before].end - 1);
        if (m_written[before] != reg) mark_live_in(reg, before);
      }
    }
    return end;
  }

  void mark_live_in(std::int32_t reg, std::int32_t block) {
    if (m_live_in[block] == reg) return;
    m_live_in[block] = reg;
    m_reads_unwritten |= block == 0;
    m_pending.push_back(block);
  }

  const Function& m_function;
  const ControlFlow& m_flow;
  std::vector<Extent> m_extents;
  std::vector<std::int32_t> m_touched_in;  // by register: the block that touched it last
  std::vector<BlockTouch> m_touches;
  std::vector<std::vector<std::int32_t>> m_predecessors;
  // By block, the register for which it was last marked.
  std::vector<std::int32_t> m_written, m_live_in, m_pending;
  bool m_reads_unwritten = false;
};

// Hands out slots of one kind in the order lives begin, and takes them back when they end.
class SlotPool {
 public:
  // An instruction may write a result while it still reads its sources: a slot is free only after
  // the instruction that used it last.
  [[nodiscard]] std::int32_t take(const Extent& extent) {
    while (!m_busy.empty() && m_busy.front().last < extent.first) {
      m_free.push_back(m_busy.front().slot);
      std::pop_heap(m_busy.begin(), m_busy.end(), ends_later);
      m_busy.pop_back();
    }
    std::int32_t slot = m_count;
    if (m_free.empty()) {
      ++m_count;
    } else {
      slot = m_free.back();
      m_free.pop_back();
    }
    m_busy.push_back({extent.last, slot});
    std::push_heap(m_busy.begin(), m_busy.end(), ends_later);
    return slot;
  }

  // A slot that is never shared.
  [[nodiscard]] std::int32_t take_forever(std::int32_t width) {
    m_count += width;
    return m_count - width;
  }

  [[nodiscard]] std::int32_t count() const { return m_count; }

 private:
  struct Busy {
    std::int32_t last = 0, slot = 0;
  };
  static bool ends_later(const Busy& a, const Busy& b) { return a.last > b.last; }

  std::vector<Busy> m_busy;  // a heap: the one that ends first in front
  std::vector<std::int32_t> m_free;
  std::int32_t m_count = 0;
};

}  // namespace

SlotAssignment assign_slots(const Function& function, const ControlFlow& flow) {
  Liveness liveness(function, flow);
  const std::vector<Extent> extents = liveness.find();
  std::vector<std::int32_t> order;
  for (std::size_t reg = 0; reg < extents.size(); ++reg)
    if (extents[reg].used()) order.push_back(static_cast<std::int32_t>(reg));
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return std::pair(extents[a].first, a) < std::pair(extents[b].first, b);
  });

  SlotAssignment slots;
  slots.reads_unwritten = liveness.reads_unwritten();
  slots.slot_of.assign(extents.size(), -1);
  SlotPool pool32, pool64, predicates;
  for (const std::int32_t reg : order) {
    std::int32_t& slot = slots.slot_of[reg];
    switch (function.registers[reg].type) {
      case RegisterClass::predicate:
        slot = predicates.take(extents[reg]);
        break;
      case RegisterClass::b16:
      case RegisterClass::b32:
        slot = pool32.take(extents[reg]);
        break;
      case RegisterClass::b64:
        slot = pool64.take(extents[reg]);
        break;
      case RegisterClass::b128:
        slot = pool64.take_forever(2);
        break;
    }
  }
  slots.slots32 = pool32.count();
  slots.slots64 = pool64.count();
  slots.predicates = predicates.count();
  return slots;
}

}  // namespace cudaopt::ptx

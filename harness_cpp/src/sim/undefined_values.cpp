#include "sim/undefined_values.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "sim/frames.hpp"
#include "sim/memory.hpp"
#include "sim/memory_form.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;

// Where a lane's word is: shared memory is the block's, local memory the thread's. Nothing for
// other spaces.
std::optional<std::uint64_t> word_key(const Warp& warp, Space space, std::uint64_t address,
                                      int lane) {
  if (space == Space::none) space = space_of_generic(address);
  if (space == Space::shared) return (address & 0xffffffffu) / 4;
  if (space != Space::local) return std::nullopt;
  const std::uint64_t thread = std::uint64_t{warp.index} * kLanes + static_cast<unsigned>(lane) + 1;
  return thread << 32 | (address & 0xffffffffu) / 4;
}

bool is_global(Space space, std::uint64_t address) {
  return space == Space::global ||
         (space == Space::none && space_of_generic(address) == Space::global);
}

bool is_parameter(const Instruction& instruction) {
  return std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                     [](std::string_view name) { return name.substr(0, 5) == "param"; });
}

}  // namespace

void UndefinedValues::begin() {
  if (!m_any) return;
  m_any = false;
  for (Registers& registers : m_registers) registers.clear();
  m_memory.clear();
  m_origins.clear();
  m_origin_at.clear();
}

bool UndefinedValues::is_own(const Warp& warp, const Op& op) const {
  return op.instruction >= 0 && warp.frame != nullptr && warp.frame->routine == nullptr;
}

const PlacedOperands& UndefinedValues::operands_of(const Op& op) {
  const ptx::Function& function = *m_block.warps->front().launch->program->function;
  if (m_operands.empty()) m_operands.resize(function.instructions.size());
  std::optional<PlacedOperands>& operands = m_operands[static_cast<std::size_t>(op.instruction)];
  if (!operands) operands = place(function.instructions[static_cast<std::size_t>(op.instruction)]);
  return *operands;
}

UndefinedValues::Undefined& UndefinedValues::at(const Warp& warp, std::int32_t reg) {
  if (m_registers.empty()) m_registers.resize(m_block.warps->size());
  Registers& registers = m_registers[warp.index];
  if (registers.empty()) registers.resize(warp.launch->program->function->registers.size());
  return registers[static_cast<std::size_t>(reg)];
}

UndefinedValues::Undefined UndefinedValues::of(const Warp& warp, const Operand* operand) const {
  const std::int32_t reg = register_of(operand);
  if (reg < 0 || m_registers.empty() || m_registers[warp.index].empty()) return {};
  return m_registers[warp.index][static_cast<std::size_t>(reg)];
}

void UndefinedValues::set(const Warp& warp, const Operand* result, Undefined value,
                          std::uint32_t mask) {
  const std::int32_t reg = register_of(result);
  if (reg < 0) return;
  Undefined& to = at(warp, reg);
  to.lanes = (to.lanes & ~mask) | (value.lanes & mask);
  if ((value.lanes & mask) != 0) to.origin = value.origin;
}

void UndefinedValues::make(Warp& warp, const Op& op, std::int32_t reg, std::uint32_t lanes,
                           const UndefinedOrigin& origin) {
  const auto [known, is_new] =
      m_origin_at.emplace(op.pc, static_cast<std::uint32_t>(m_origins.size()));
  if (is_new) m_origins.push_back(origin);
  Undefined& to = at(warp, reg);
  to.lanes |= lanes;
  to.origin = known->second;
  m_any = true;
  if (warp.state == WarpState::running) warp.state = WarpState::interrupted;
}

void UndefinedValues::shuffled(Warp& warp, const Op& op, std::uint32_t mask,
                               const ShuffleSources& sources) {
  if (!is_own(warp, op)) return;
  const PlacedOperands& operands = operands_of(op);
  const Undefined source = of(warp, operands.sources[0]);
  Undefined result{0, source.origin};
  for (std::uint32_t rest = mask & ~sources.absent; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if ((source.lanes >> sources.lane[lane] & 1u) != 0) result.lanes |= 1u << lane;
  }
  set(warp, operands.results[0], result, mask);
  const std::uint32_t absent = sources.absent & mask;
  const std::int32_t reg = register_of(operands.results[0]);
  if (absent == 0 || reg < 0) return;
  const auto lane = static_cast<std::uint32_t>(__builtin_ctz(absent));
  UndefinedOrigin origin;
  origin.at = {m_block.linear, warp.index, lane, op.pc};
  origin.other_lane = sources.lane[lane];
  make(warp, op, reg, absent, origin);
}

void UndefinedValues::loaded(Warp& warp, const Op& op, std::uint32_t lane, std::uint32_t element,
                             std::uint64_t offset, std::uint32_t bytes) {
  if (!is_own(warp, op)) return;
  const PlacedOperands& operands = operands_of(op);
  const std::int32_t reg = register_of(operands.results[element]);
  if (reg < 0) return;
  UndefinedOrigin origin;
  origin.at = {m_block.linear, warp.index, lane, op.pc};
  origin.unwritten = true;
  origin.offset = offset;
  origin.bytes = bytes;
  make(warp, op, reg, 1u << lane, origin);
}

bool UndefinedValues::follows(const Warp& warp) const {
  if (!m_any) return false;
  if (!m_memory.empty()) return true;
  if (m_registers.empty()) return false;
  const Registers& registers = m_registers[warp.index];
  return std::any_of(registers.begin(), registers.end(),
                     [](const Undefined& value) { return value.lanes != 0; });
}

void UndefinedValues::step(const Warp& warp, const Op& op, std::uint32_t mask) {
  if (!is_own(warp, op)) return;
  const Instruction& instruction =
      warp.launch->program->function->instructions[static_cast<std::size_t>(op.instruction)];
  if (instruction.guard >= 0) {
    const Undefined guard = at(warp, instruction.guard);
    if ((guard.lanes & warp.active) != 0) use(warp, op, guard.origin, guard.lanes & warp.active);
  }
  if (mask == 0 || op.is_branch) return;
  const PlacedOperands& operands = operands_of(op);
  const std::string_view opcode = instruction.opcode;
  // What a callee writes is not seen.
  if (opcode == "call") return m_memory.clear();
  if (opcode == "st") return store(warp, op, operands, mask);
  if (opcode == "ld") return load(warp, op, operands, mask);
  if (opcode == "atom" || opcode == "red") {
    for (std::size_t k = 1; k < operands.sources.size(); ++k) {
      const Undefined value = of(warp, operands.sources[k]);
      if ((value.lanes & mask) != 0) use(warp, op, value.origin, value.lanes & mask);
    }
  }
  // Before a shuffle has read them, its sources stay as they are.
  if (opcode == "shfl" && register_of(operands.results[0]) == register_of(operands.sources[0]))
    return;
  const Undefined result = result_of(warp, op, operands);
  for (const Operand* each : operands.results) set(warp, each, result, mask);
}

void UndefinedValues::load(const Warp& warp, const Op& op, const PlacedOperands& operands,
                           std::uint32_t mask) {
  const Instruction& instruction =
      warp.launch->program->function->instructions[static_cast<std::size_t>(op.instruction)];
  for (const Operand* result : operands.results) set(warp, result, {}, mask);
  if (m_memory.empty() || is_parameter(instruction)) return;
  const AccessShape shape = shape_of(op.aux);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const std::uint64_t address = effective_address(warp, op, lane);
    for (std::uint32_t k = 0; k < operands.results.size(); ++k) {
      const auto key = word_key(warp, space_of(op), address + k * shape.element_bytes, lane);
      const auto found = key ? m_memory.find(*key) : m_memory.end();
      if (found != m_memory.end())
        set(warp, operands.results[k], {1u << lane, found->second}, 1u << lane);
    }
  }
}

void UndefinedValues::store(const Warp& warp, const Op& op, const PlacedOperands& operands,
                            std::uint32_t mask) {
  const Instruction& instruction =
      warp.launch->program->function->instructions[static_cast<std::size_t>(op.instruction)];
  if (is_parameter(instruction)) return;
  const AccessShape shape = shape_of(op.aux);
  for (std::uint32_t k = 0; k < shape.elements; ++k) {
    const Undefined value = of(warp, operands.sources[k + 1]);
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const int lane = __builtin_ctz(rest);
      const bool undefined = (value.lanes >> lane & 1u) != 0;
      const std::uint64_t address = effective_address(warp, op, lane) + k * shape.element_bytes;
      if (const auto key = word_key(warp, space_of(op), address, lane)) {
        if (undefined) m_memory[*key] = value.origin;
        if (!undefined) m_memory.erase(*key);
      } else if (undefined && is_global(space_of(op), address) &&
                 !is_padding(warp, operands, shape.elements, value.origin,
                             static_cast<std::uint32_t>(lane))) {
        use(warp, op, value.origin, 1u << lane);
      }
    }
  }
}

// A vector goes on as it came, some part of it defined.
bool UndefinedValues::is_padding(const Warp& warp, const PlacedOperands& operands,
                                 std::uint32_t elements, std::uint32_t origin,
                                 std::uint32_t lane) const {
  if (!m_origins[origin].unwritten) return false;
  for (std::uint32_t k = 0; k < elements; ++k)
    if ((of(warp, operands.sources[k + 1]).lanes >> lane & 1u) == 0) return true;
  return false;
}

void UndefinedValues::use(const Warp& warp, const Op& op, std::uint32_t origin,
                          std::uint32_t lanes) {
  const auto lane = static_cast<std::uint32_t>(__builtin_ctz(lanes));
  m_findings.add_undefined(m_origins[origin], {m_block.linear, warp.index, lane, op.pc});
}

}  // namespace cudaopt::sim

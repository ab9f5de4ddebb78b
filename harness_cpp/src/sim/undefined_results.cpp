// The rules by which UndefinedValues tells whether a result depends on an undefined source.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "sim/undefined_values.hpp"

namespace cudaopt::sim {
namespace {

using ptx::Instruction;
using ptx::Operand;

// Whose result is undefined if any source is.
bool computes(std::string_view opcode) {
  static constexpr std::string_view kOpcodes[] = {
      "add", "sub", "mul",  "mad",  "fma", "div",  "rem", "abs",   "neg",
      "min", "max", "cvt",  "shl",  "shr", "sqrt", "rcp", "ex2",   "lg2",
      "sin", "cos", "tanh", "cvta", "xor", "not",  "set", "rsqrt", "popc"};
  return std::find(std::begin(kOpcodes), std::end(kOpcodes), opcode) != std::end(kOpcodes);
}

std::uint32_t predicate_bits(const Warp& warp, const Op& op, std::size_t source) {
  const std::uint32_t bits = warp.predicates[op.src[source]];
  return (op.src_negated >> source & 1u) != 0 ? ~bits : bits;
}

// Lanes in which `and` or `or` has its result whatever the other source is.
std::uint32_t deciding_lanes(const Warp& warp, const Op& op, std::size_t source,
                             const Instruction& instruction) {
  const bool conjunction = instruction.opcode == "and";
  if (instruction.type() == "pred") {
    const std::uint32_t bits = predicate_bits(warp, op, source);
    return conjunction ? ~bits : bits;
  }
  const bool wide = instruction.type() == "b64";
  const std::uint64_t ones = wide                          ? ~std::uint64_t{0}
                             : instruction.type() == "b16" ? 0xffffu
                                                           : 0xffffffffu;
  std::uint32_t lanes = 0;
  for (int i = 0; i < kLanes; ++i) {
    const std::uint64_t value = wide ? lane_value<std::uint64_t>(warp, op.src[source], i)
                                     : lane_value<std::uint32_t>(warp, op.src[source], i);
    if (value == (conjunction ? 0 : ones)) lanes |= 1u << i;
  }
  return lanes;
}

}  // namespace

UndefinedValues::Undefined UndefinedValues::result_of(const Warp& warp, const Op& op,
                                                      const PlacedOperands& operands) const {
  const Instruction& instruction =
      warp.launch->program->function->instructions[static_cast<std::size_t>(op.instruction)];
  const std::string_view opcode = instruction.opcode;
  if (opcode == "mov") return moved(warp, operands);
  if (opcode == "selp") return selected(warp, op, operands);
  if (opcode == "and" || opcode == "or") return combined(warp, op, operands);
  if (opcode == "setp") return compared(warp, operands);
  return computes(opcode) ? any_of(warp, operands) : Undefined{};
}

UndefinedValues::Undefined UndefinedValues::any_of(const Warp& warp,
                                                   const PlacedOperands& operands) const {
  Undefined result;
  for (const Operand* source : operands.sources) {
    const Undefined value = of(warp, source);
    if (value.lanes != 0) result = {result.lanes | value.lanes, value.origin};
  }
  return result;
}

// Parts are packed as they are: padding beside what is defined is no use of it.
UndefinedValues::Undefined UndefinedValues::moved(const Warp& warp,
                                                  const PlacedOperands& operands) const {
  Undefined result = any_of(warp, operands);
  if (result.lanes == 0 || !m_origins[result.origin].unwritten) return result;
  for (const Operand* source : operands.sources) result.lanes &= of(warp, source).lanes;
  return result;
}

UndefinedValues::Undefined UndefinedValues::selected(const Warp& warp, const Op& op,
                                                     const PlacedOperands& operands) const {
  const Undefined a = of(warp, operands.sources[0]), b = of(warp, operands.sources[1]),
                  choice = of(warp, operands.sources[2]);
  const std::uint32_t first = predicate_bits(warp, op, 2);
  const std::uint32_t taken_a = a.lanes & first, taken_b = b.lanes & ~first;
  const std::uint32_t origin = choice.lanes != 0 ? choice.origin
                               : taken_a != 0    ? a.origin
                                                 : b.origin;
  return {choice.lanes | taken_a | taken_b, origin};
}

UndefinedValues::Undefined UndefinedValues::combined(const Warp& warp, const Op& op,
                                                     const PlacedOperands& operands) const {
  const Undefined a = of(warp, operands.sources[0]), b = of(warp, operands.sources[1]);
  if ((a.lanes | b.lanes) == 0) return {};
  const Instruction& instruction =
      warp.launch->program->function->instructions[static_cast<std::size_t>(op.instruction)];
  const std::uint32_t by_a = deciding_lanes(warp, op, 0, instruction) & ~a.lanes,
                      by_b = deciding_lanes(warp, op, 1, instruction) & ~b.lanes;
  return {(a.lanes | b.lanes) & ~by_a & ~by_b, a.lanes != 0 ? a.origin : b.origin};
}

// With a third source, what the comparison is combined with may decide.
UndefinedValues::Undefined UndefinedValues::compared(const Warp& warp,
                                                     const PlacedOperands& operands) const {
  return operands.sources.size() == 2 ? any_of(warp, operands) : Undefined{};
}

}  // namespace cudaopt::sim

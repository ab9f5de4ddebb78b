// What reads the time or moves the end of local memory: %clock, %globaltimer, alloca.
#include <string_view>

#include "sim/clock.hpp"
#include "sim/local_stack.hpp"
#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

using ptx::Instruction;
using ptx::Operand;

struct Clock {
  std::string_view name;
  bool wide;
  std::int32_t aux;
};

constexpr Clock kClocks[] = {
    {"%clock", false, clock_aux(kCyclesPerInstruction, false)},
    {"%clock_hi", false, clock_aux(kCyclesPerInstruction, true)},
    {"%clock64", true, clock_aux(kCyclesPerInstruction, false)},
    {"%globaltimer", true, clock_aux(kNsPerInstruction, false)},
    {"%globaltimer_lo", false, clock_aux(kNsPerInstruction, false)},
    {"%globaltimer_hi", false, clock_aux(kNsPerInstruction, true)},
};

std::optional<Binding> bind_read(const Instruction& instruction) {
  if (instruction.operands.size() != 2) return std::nullopt;
  const Operand& from = instruction.operands[1];
  if (from.kind != Operand::Kind::special) return std::nullopt;
  for (const Clock& clock : kClocks) {
    if (clock.name != from.name) continue;
    Binding binding;
    binding.dst[0] = clock.wide ? Slot::b64 : Slot::b32;
    binding.full = binding.masked = clock.wide ? read_clock64 : read_clock32;
    binding.aux = clock.aux;
    return binding;
  }
  return std::nullopt;
}

Binding bind_stack(Handler handler) {
  Binding binding;
  binding.full = binding.masked = handler;
  return binding;
}

std::optional<Binding> bind_alloca(const Instruction& instruction) {
  if (instruction.operands.size() != 3) return std::nullopt;
  Binding binding = bind_stack(allocate_local);
  binding.dst[0] = binding.src[0] = binding.src[1] = Slot::b64;
  return binding;
}

}  // namespace

std::optional<Binding> bind_clock(const ptx::Function&, const Instruction& instruction) {
  const std::string_view opcode = instruction.opcode;
  if (opcode == "mov") return bind_read(instruction);
  if (instruction.type() != "u64") return std::nullopt;
  if (opcode == "alloca") return bind_alloca(instruction);
  Binding binding = bind_stack(opcode == "stacksave" ? save_local_stack : restore_local_stack);
  if (opcode == "stacksave") {
    binding.dst[0] = Slot::b64;
  } else if (opcode == "stackrestore") {
    binding.src[0] = Slot::b64;
  } else {
    return std::nullopt;
  }
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

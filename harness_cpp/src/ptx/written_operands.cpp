#include <algorithm>

#include "ptx/control_flow.hpp"

namespace cudaopt::ptx {

namespace {

// Opcodes whose first operand may be a register and is only read.
constexpr std::string_view kReadsAll[] = {
    "st",       "red",       "bra",           "brx",           "ret",       "exit",
    "trap",     "brkpt",     "membar",        "fence",         "nanosleep", "pmevent",
    "prefetch", "prefetchu", "stackrestore",  "setmaxnreg",    "cp",        "barrier",
    "bar",      "discard",   "applypriority", "griddepcontrol"};

bool reads_all(const Instruction& instruction) {
  const auto* end = std::end(kReadsAll);
  if (std::find(std::begin(kReadsAll), end, instruction.opcode) == end)
    return instruction.opcode == "tcgen05" && instruction.has("dealloc");
  const bool barrier = instruction.opcode == "bar" || instruction.opcode == "barrier";
  return !(barrier && instruction.has("red"));
}

bool can_be_written(const Operand& operand) {
  return operand.kind == Operand::Kind::reg || operand.kind == Operand::Kind::vector ||
         operand.kind == Operand::Kind::sink;
}

}  // namespace

std::vector<std::int32_t> written_operands(const Instruction& instruction) {
  const std::vector<Operand>& operands = instruction.operands;
  if (operands.empty() || !can_be_written(operands[0]) || reads_all(instruction)) return {};
  if (instruction.paired && operands.size() > 1) return {0, 1};
  return {0};
}

}  // namespace cudaopt::ptx

// Instructions that ask something of a GPU this device has no counterpart of: counters of events,
// register quotas, and kernels that start before the one before them has ended. A launch here
// begins when the one before it is over.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "sim/ops.hpp"

namespace cudaopt::sim::CUDAOPT_ISA {
namespace {

std::int32_t no_effect(Warp&, const Op& op, std::uint32_t) { return op.pc + 1; }

}  // namespace

std::optional<Binding> bind_hint(const ptx::Function&, const ptx::Instruction& instruction) {
  static constexpr std::string_view kOpcodes[] = {"pmevent", "setmaxnreg", "griddepcontrol"};
  if (std::find(std::begin(kOpcodes), std::end(kOpcodes), instruction.opcode) == std::end(kOpcodes))
    return std::nullopt;
  Binding binding;
  binding.full = binding.masked = no_effect;
  binding.pipe = Pipe::control;
  return binding;
}

}  // namespace cudaopt::sim::CUDAOPT_ISA

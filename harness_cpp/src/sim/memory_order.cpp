#include "sim/memory_order.hpp"

namespace cudaopt::sim {
namespace {

std::int32_t log2_of(std::uint32_t power) { return __builtin_ctz(power); }

}  // namespace

MemoryOrder memory_order(const ptx::Instruction& instruction) {
  MemoryOrder order;
  const std::string_view opcode = instruction.opcode;
  const bool atomic = opcode == "atom" || opcode == "red";
  if (instruction.has("volatile")) order.strength = Strength::is_volatile;
  if (atomic || instruction.has("relaxed") || instruction.has("acquire") ||
      instruction.has("release") || instruction.has("mmio"))
    order.strength = Strength::strong;
  // `membar.cta`, `st.release.cta`: clusters are not executed, so their scope is the device's.
  order.scope = instruction.has("cta") ? Scope::block : Scope::device;
  order.releases = instruction.has("release") || instruction.has("acq_rel");
  return order;
}

std::int32_t shape_bits(const AccessShape& shape) {
  return static_cast<std::int32_t>(shape.order.strength) << 16 |
         static_cast<std::int32_t>(shape.order.scope) << 18 |
         static_cast<std::int32_t>(shape.order.releases) << 19 |
         log2_of(shape.element_bytes) << 20 | log2_of(shape.elements) << 22 |
         static_cast<std::int32_t>(shape.reads) << 24;
}

}  // namespace cudaopt::sim

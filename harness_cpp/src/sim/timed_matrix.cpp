#include "sim/timed_matrix.hpp"

#include <algorithm>
#include <cstring>

#include "sim/block.hpp"
#include "sim/matrix_form.hpp"

namespace cudaopt::sim {
namespace {

// Multiplications per clock of one of an SM's four tensor cores, by mma.sync on an H200: m16n8k16
// of halves takes 6.08 cycles, m16n8k8 of tf32 as many, m16n8k32 of s8 too, m8n8k4 of doubles 16.
// Narrower integers and bits are taken for as fast as s8; numbers of 8 bits become halves.
double rate_of(Element element) {
  switch (element) {
    case Element::f64:
      return 16;
    case Element::tf32:
      return 168;
    case Element::s8:
    case Element::u8:
    case Element::s4:
    case Element::u4:
    case Element::b1:
      return 674;
    default:
      return 337;
  }
}

constexpr double kSlotCycles = 6.08;

std::uint64_t lane_value(const Warp& warp, const WideOperand& operand) {
  std::uint64_t value = 0;
  std::memcpy(&value, warp.registers + operand.slot, operand.width == Slot::b64 ? 8 : 4);
  return value;
}

}  // namespace

std::uint8_t matrix_slots(const ptx::Instruction& instruction) {
  const auto form = matrix_form(instruction);
  if (!form) return 0;
  const double products = double{1} * form->shape.m * form->shape.n * form->shape.k;
  const double slots = products / rate_of(form->a) / kSlotCycles;
  return static_cast<std::uint8_t>(std::clamp(slots + 0.5, 1.0, 255.0));
}

CopyStep copy_step(const ptx::Instruction& instruction) {
  if (instruction.opcode != "cp" || !instruction.has("async") || instruction.has("bulk"))
    return CopyStep::none;
  if (instruction.has("commit_group")) return CopyStep::commit;
  if (instruction.has("wait_group")) return CopyStep::wait_group;
  if (instruction.has("wait_all")) return CopyStep::wait_all;
  return instruction.has("mbarrier") ? CopyStep::none : CopyStep::start;
}

bool moves_tile(const ptx::Instruction& instruction) {
  return instruction.opcode == "wmma" && !instruction.has("mma");
}

std::vector<LaneAddresses> tile_requests(const Warp& warp, const Op& op) {
  const WideOperands& wide = warp.launch->program->wide_operands[static_cast<std::size_t>(op.aux)];
  TileForm form;
  std::memcpy(&form, wide.form.data(), sizeof form);
  const std::uint32_t length = form.column_major ? form.rows : form.columns;
  const std::uint32_t lines = form.column_major ? form.columns : form.rows;
  const std::uint32_t line_bytes = length * bits_of(form.element) / 8;
  const std::uint64_t stride = form.has_stride ? lane_value(warp, wide.operands.back()) : length;
  const WideOperand& address = wide.operands[form.stores ? 0 : form.registers];
  const std::uint64_t base =
      lane_value(warp, address) + static_cast<std::uint64_t>(address.displacement);
  const std::uint32_t piece = std::min(line_bytes, 16u);
  std::vector<LaneAddresses> requests;
  for (std::uint32_t i = 0; i < lines * (line_bytes / piece); ++i) {
    if (i % kLanes == 0) requests.emplace_back().bytes = piece;
    LaneAddresses& request = requests.back();
    request.mask |= 1u << i % kLanes;
    request.address[i % kLanes] = base +
                                  i / (line_bytes / piece) * stride * bits_of(form.element) / 8 +
                                  i % (line_bytes / piece) * piece;
  }
  return requests;
}

}  // namespace cudaopt::sim

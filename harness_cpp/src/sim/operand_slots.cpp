#include "sim/operand_slots.hpp"

#include <unordered_map>

namespace cudaopt::sim {
namespace {

constexpr std::int32_t kBytes32 = kLanes * 4, kBytes64 = kLanes * 8;

Slot width_of(ptx::RegisterClass type) {
  switch (type) {
    case ptx::RegisterClass::predicate:
      return Slot::predicate;
    case ptx::RegisterClass::b16:
    case ptx::RegisterClass::b32:
      return Slot::b32;
    case ptx::RegisterClass::b64:
      return Slot::b64;
    case ptx::RegisterClass::b128:
      break;
  }
  return Slot::none;
}

std::optional<Special> special_named(std::string_view name) {
  static const std::unordered_map<std::string_view, Special> kNames = {
      {"%tid.x", Special::tid_x},
      {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},
      {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},
      {"%ntid.z", Special::ntid_z},
      {"%ctaid.x", Special::ctaid_x},
      {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},
      {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y},
      {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},
      {"WARP_SZ", Special::warp_size},
      {"%lanemask_eq", Special::lanemask_eq},
      {"%lanemask_lt", Special::lanemask_lt},
      {"%lanemask_le", Special::lanemask_le},
      {"%lanemask_gt", Special::lanemask_gt},
      {"%lanemask_ge", Special::lanemask_ge},
      {"%dynamic_smem_size", Special::dynamic_shared_bytes},
      {"%total_smem_size", Special::total_shared_bytes},
      {"%cluster_ctaid.x", Special::cluster_ctaid_x},
      {"%cluster_ctaid.y", Special::cluster_ctaid_y},
      {"%cluster_ctaid.z", Special::cluster_ctaid_z},
      {"%cluster_nctaid.x", Special::cluster_nctaid_x},
      {"%cluster_nctaid.y", Special::cluster_nctaid_y},
      {"%cluster_nctaid.z", Special::cluster_nctaid_z},
      {"%cluster_ctarank", Special::cluster_ctarank},
      {"%cluster_nctarank", Special::cluster_nctarank},
      {"%clusterid.x", Special::clusterid_x},
      {"%clusterid.y", Special::clusterid_y},
      {"%clusterid.z", Special::clusterid_z},
      {"%nclusterid.x", Special::nclusterid_x},
      {"%nclusterid.y", Special::nclusterid_y},
      {"%nclusterid.z", Special::nclusterid_z},
      {"%envreg1", Special::grid_workspace_high},
      {"%envreg2", Special::grid_workspace_low},
  };
  const auto found = kNames.find(name);
  if (found == kNames.end()) return std::nullopt;
  return found->second;
}

}  // namespace

OperandSlots::OperandSlots(const ptx::Function& function, const ptx::SlotAssignment& assignment,
                           FrameLayout& frame)
    : m_function(function), m_assignment(assignment), m_frame(frame) {
  frame.register_bytes =
      static_cast<std::uint32_t>(assignment.slots32 * kBytes32 + assignment.slots64 * kBytes64);
  frame.predicates = static_cast<std::uint32_t>(assignment.predicates);
  frame.written_register_bytes = frame.register_bytes;
  frame.written_predicates = frame.predicates;
}

std::optional<std::int32_t> OperandSlots::register_slot(std::int32_t reg, Slot width) const {
  const auto index = static_cast<std::size_t>(reg);
  if (width_of(m_function.registers[index].type) != width) return std::nullopt;
  const std::int32_t slot = m_assignment.slot_of[index];
  if (width == Slot::predicate) return slot;
  if (width == Slot::b32) return slot * kBytes32;
  return m_assignment.slots32 * kBytes32 + slot * kBytes64;
}

std::int32_t OperandSlots::predicate(std::int32_t reg) const {
  return m_assignment.slot_of[static_cast<std::size_t>(reg)];
}

std::int32_t OperandSlots::allocate(Slot width) {
  if (width == Slot::predicate) return static_cast<std::int32_t>(m_frame.predicates++);
  const auto offset = static_cast<std::int32_t>(m_frame.register_bytes);
  m_frame.register_bytes += static_cast<std::uint32_t>(width == Slot::b64 ? kBytes64 : kBytes32);
  return offset;
}

std::int32_t OperandSlots::constant(std::uint64_t bits, Slot width) {
  if (width == Slot::predicate) return constant_predicate(bits != 0);
  if (width == Slot::b32) bits = static_cast<std::uint32_t>(bits);
  const auto [found, added] = m_constants.try_emplace({width, bits}, 0);
  if (added) {
    found->second = allocate(width);
    m_frame.constants.push_back({found->second, width, bits});
  }
  return found->second;
}

std::int32_t OperandSlots::constant_predicate(bool value) {
  const auto [found, added] = m_constant_predicates.try_emplace(value, 0);
  if (added) {
    found->second = allocate(Slot::predicate);
    if (value) m_frame.true_predicates.push_back(found->second);
  }
  return found->second;
}

std::optional<std::int32_t> OperandSlots::special(std::string_view name, Slot width) {
  const auto which = special_named(name);
  if (!which || width == Slot::predicate) return std::nullopt;
  const auto [found, added] = m_specials.try_emplace({width, *which}, 0);
  if (added) {
    found->second = allocate(width);
    m_frame.specials.push_back({found->second, width, *which});
  }
  return found->second;
}

std::int32_t OperandSlots::parameter(const ParameterSlot& wanted) {
  for (const ParameterSlot& known : m_frame.parameters) {
    if (known.from == wanted.from && known.bytes == wanted.bytes && known.width == wanted.width &&
        known.extension == wanted.extension) {
      return known.offset;
    }
  }
  ParameterSlot slot = wanted;
  slot.offset = allocate(wanted.width);
  m_frame.parameters.push_back(slot);
  return slot.offset;
}

std::int32_t OperandSlots::local(const NamedRange& variable, std::int64_t offset, Slot width) {
  const auto from =
      static_cast<std::uint32_t>(variable.offset + static_cast<std::uint64_t>(offset));
  for (const LocalSlot& known : m_frame.locals) {
    if (known.from == from && known.width == width) return known.offset;
  }
  m_frame.locals.push_back({allocate(width), width, from});
  return m_frame.locals.back().offset;
}

std::int32_t OperandSlots::words(std::uint32_t count) {
  const auto offset = static_cast<std::int32_t>(m_frame.register_bytes);
  m_frame.register_bytes += count * static_cast<std::uint32_t>(kBytes32);
  return offset;
}

std::int32_t OperandSlots::sink(Slot width) {
  const auto [found, added] = m_sinks.try_emplace(width, 0);
  if (added) found->second = allocate(width);
  return found->second;
}

}  // namespace cudaopt::sim

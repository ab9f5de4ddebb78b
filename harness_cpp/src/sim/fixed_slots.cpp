#include "sim/fixed_slots.hpp"

#include <algorithm>
#include <cstring>

#include "sim/fault.hpp"
#include "sim/frames.hpp"

namespace cudaopt::sim {
namespace {

void fill(Warp& warp, std::int32_t offset, Slot width, std::uint64_t value) {
  if (width == Slot::b64) {
    std::fill_n(lanes<std::uint64_t>(warp, offset), kLanes, value);
  } else {
    std::fill_n(lanes<std::uint32_t>(warp, offset), kLanes, static_cast<std::uint32_t>(value));
  }
}

std::uint64_t extend(std::uint64_t value, Extension extension) {
  const std::int32_t s8 = static_cast<std::int8_t>(value);
  const std::int32_t s16 = static_cast<std::int16_t>(value);
  switch (extension) {
    case Extension::s8_to_16:
      return static_cast<std::uint16_t>(s8);
    case Extension::s8_to_32:
      return static_cast<std::uint32_t>(s8);
    case Extension::s16_to_32:
      return static_cast<std::uint32_t>(s16);
    case Extension::s8_to_64:
      return static_cast<std::uint64_t>(std::int64_t{s8});
    case Extension::s16_to_64:
      return static_cast<std::uint64_t>(std::int64_t{s16});
    case Extension::s32_to_64:
      return static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(value)});
    case Extension::none:
    case Extension::to_64:
      break;
  }
  return value;
}

void fill_parameter(Warp& warp, const ParameterSlot& slot) {
  std::uint64_t value = 0;
  std::memcpy(&value, warp.launch->parameters.data() + slot.from, slot.bytes);
  fill(warp, slot.offset, slot.width, extend(value, slot.extension));
}

void fill_local(Warp& warp, const LocalSlot& slot) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t address = warp.frame->local_begin[lane] + slot.from;
    if (slot.width == Slot::b64) {
      lanes<std::uint64_t>(warp, slot.offset)[lane] = address;
    } else {
      lanes<std::uint32_t>(warp, slot.offset)[lane] = address;
    }
  }
}

bool changes_with_block(Special which) {
  switch (which) {
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
    case Special::cluster_ctaid_x:
    case Special::cluster_ctaid_y:
    case Special::cluster_ctaid_z:
    case Special::cluster_ctarank:
    case Special::clusterid_x:
    case Special::clusterid_y:
    case Special::clusterid_z:
      return true;
    default:
      return false;
  }
}

std::uint64_t cluster_value(const Warp& warp, Special which) {
  const Launch& launch = *warp.launch;
  const Dim3 cluster = launch.cluster.value_or(Dim3{});
  const Dim3 &index = warp.block->index, &grid = launch.grid;
  const Dim3 inside{index.x % cluster.x, index.y % cluster.y, index.z % cluster.z};
  switch (which) {
    case Special::cluster_ctaid_x:
      return inside.x;
    case Special::cluster_ctaid_y:
      return inside.y;
    case Special::cluster_ctaid_z:
      return inside.z;
    case Special::cluster_nctaid_x:
      return cluster.x;
    case Special::cluster_nctaid_y:
      return cluster.y;
    case Special::cluster_nctaid_z:
      return cluster.z;
    case Special::cluster_ctarank:
      return inside.x + std::uint64_t{cluster.x} * (inside.y + cluster.y * inside.z);
    case Special::cluster_nctarank:
      return cluster.count();
    case Special::clusterid_x:
      return index.x / cluster.x;
    case Special::clusterid_y:
      return index.y / cluster.y;
    case Special::clusterid_z:
      return index.z / cluster.z;
    case Special::nclusterid_x:
      return grid.x / cluster.x;
    case Special::nclusterid_y:
      return grid.y / cluster.y;
    case Special::nclusterid_z:
      return grid.z / cluster.z;
    default:
      return 0;
  }
}

std::uint64_t special_value(const Warp& warp, Special which, int lane) {
  const Launch& launch = *warp.launch;
  const std::uint64_t bit = std::uint64_t{1} << lane;
  switch (which) {
    case Special::tid_x:
      return thread_index(warp, lane).x;
    case Special::tid_y:
      return thread_index(warp, lane).y;
    case Special::tid_z:
      return thread_index(warp, lane).z;
    case Special::ntid_x:
      return launch.block.x;
    case Special::ntid_y:
      return launch.block.y;
    case Special::ntid_z:
      return launch.block.z;
    case Special::ctaid_x:
      return warp.block->index.x;
    case Special::ctaid_y:
      return warp.block->index.y;
    case Special::ctaid_z:
      return warp.block->index.z;
    case Special::nctaid_x:
      return launch.grid.x;
    case Special::nctaid_y:
      return launch.grid.y;
    case Special::nctaid_z:
      return launch.grid.z;
    case Special::laneid:
      return static_cast<std::uint64_t>(lane);
    case Special::warpid:
      return warp.index;
    case Special::nwarpid:
      return (launch.block.count() + kLanes - 1) / kLanes;
    case Special::warp_size:
      return kLanes;
    case Special::lanemask_eq:
      return bit;
    case Special::lanemask_lt:
      return bit - 1;
    case Special::lanemask_le:
      return 2 * bit - 1;
    case Special::lanemask_gt:
      return kAllLanes & ~(2 * bit - 1);
    case Special::lanemask_ge:
      return kAllLanes & ~(bit - 1);
    case Special::dynamic_shared_bytes:
      return launch.dynamic_shared_bytes;
    case Special::total_shared_bytes:
      return launch.shared_bytes;
    case Special::grid_workspace_high:
      return launch.grid_workspace >> 32;
    case Special::grid_workspace_low:
      return static_cast<std::uint32_t>(launch.grid_workspace);
    default:
      return cluster_value(warp, which);
  }
}

void fill_special(Warp& warp, const SpecialSlot& slot) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t value = special_value(warp, slot.which, lane);
    if (slot.width == Slot::b64) {
      lanes<std::uint64_t>(warp, slot.offset)[lane] = value;
    } else {
      lanes<std::uint32_t>(warp, slot.offset)[lane] = static_cast<std::uint32_t>(value);
    }
  }
}

}  // namespace

void fill_launch_slots(Warp& warp, const FrameLayout& layout) {
  for (const ConstantSlot& slot : layout.constants) fill(warp, slot.offset, slot.width, slot.bits);
  for (const ParameterSlot& slot : layout.parameters) fill_parameter(warp, slot);
  for (const std::int32_t index : layout.true_predicates) warp.predicates[index] = kAllLanes;
  for (const SpecialSlot& slot : layout.specials) {
    if (!changes_with_block(slot.which)) fill_special(warp, slot);
  }
}

void fill_block_slots(Warp& warp, const FrameLayout& layout) {
  for (const SpecialSlot& slot : layout.specials) {
    if (!changes_with_block(slot.which)) continue;
    fill(warp, slot.offset, slot.width, special_value(warp, slot.which, 0));
  }
}

void fill_frame_slots(Warp& warp, const FrameLayout& layout) {
  if (layout.reads_unwritten) {
    std::memset(warp.registers, 0, layout.written_register_bytes);
    std::fill_n(warp.predicates, layout.written_predicates, 0u);
  }
  if (layout.parameter_words.bytes != 0) {
    std::memset(warp.registers + layout.parameter_words.offset, 0,
                std::size_t{layout.parameter_words.words()} * kLanes * 4);
  }
  for (const LocalSlot& slot : layout.locals) fill_local(warp, slot);
}

}  // namespace cudaopt::sim

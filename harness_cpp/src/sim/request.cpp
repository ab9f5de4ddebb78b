#include "sim/request.hpp"

#include <algorithm>

#include "sim/access_cost.hpp"
#include "sim/l1.hpp"

namespace cudaopt::sim {
namespace {

template <class Visit>
void for_each_lane(std::uint32_t mask, Visit visit) {
  for (; mask != 0; mask &= mask - 1) visit(static_cast<std::size_t>(__builtin_ctz(mask)));
}

std::uint64_t first_address(const LaneAddresses& lanes) {
  return lanes.address[static_cast<std::size_t>(__builtin_ctz(lanes.mask))];
}

bool all_equal(const LaneAddresses& lanes) {
  const std::uint64_t first = first_address(lanes);
  bool equal = true;
  for_each_lane(lanes.mask, [&](std::size_t lane) { equal &= lanes.address[lane] == first; });
  return equal;
}

// Neighbouring words for neighbouring lanes: each has a bank of its own.
bool consecutive_words(const LaneAddresses& lanes) {
  if (lanes.mask != kAllLanes || lanes.bytes != 4) return false;
  bool consecutive = true;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    consecutive &= lanes.address[lane] == lanes.address[0] + 4 * lane;
  }
  return consecutive;
}

// Whether every lane of `group` reads what its neighbour at distance `apart` reads, or that one is
// absent.
bool pairwise_equal(const LaneAddresses& lanes, std::uint32_t group, std::size_t apart) {
  bool equal = true;
  for_each_lane(lanes.mask & group, [&](std::size_t lane) {
    const std::size_t other = lane ^ apart;
    equal &= ((lanes.mask >> other) & 1u) == 0 || lanes.address[lane] == lanes.address[other];
  });
  return equal;
}

// Moves one lane of each pair to the front of the group, which then needs half as many passes.
void pack_pairs(LaneAddresses& lanes, std::uint32_t group, std::size_t apart) {
  std::uint32_t kept = 0;
  std::size_t to = static_cast<std::size_t>(__builtin_ctz(group));
  for_each_lane(lanes.mask & group, [&](std::size_t lane) {
    const std::size_t other = lane ^ apart;
    if (other < lane && ((lanes.mask >> other) & 1u) != 0) return;
    lanes.address[to] = lanes.address[lane];
    kept |= 1u << to++;
  });
  lanes.mask = (lanes.mask & ~group) | kept;
}

// 64-bit accesses go by half warps and 128-bit ones by quarters, but two of them go together if
// lanes read the same in pairs.
LaneAddresses with_pairs_packed(LaneAddresses lanes) {
  const std::uint32_t group_lanes = lanes.bytes == 8 ? 32 : 16;
  for (std::uint32_t first = 0; first < kLanes; first += group_lanes) {
    const std::uint32_t group = (kAllLanes >> (kLanes - group_lanes)) << first;
    for (const std::size_t apart : {std::size_t{1}, std::size_t{2}}) {
      if ((lanes.mask & group) == 0 || !pairwise_equal(lanes, group, apart)) continue;
      pack_pairs(lanes, group, apart);
      break;
    }
  }
  return lanes;
}

}  // namespace

SectorList::SectorList(const LaneAddresses& lanes) {
  const std::uint64_t bytes = (std::uint64_t{1} << lanes.bytes) - 1;
  for_each_lane(lanes.mask, [&](std::size_t lane) {
    const std::uint64_t address = lanes.address[lane];
    add({address / kSectorBytes, static_cast<std::uint32_t>(bytes << (address % kSectorBytes))});
  });
  const auto before = [](const SectorBytes& a, const SectorBytes& b) {
    return a.sector < b.sector;
  };
  SectorBytes* end = m_sectors.data() + m_count;
  if (std::is_sorted(m_sectors.data(), end, before)) return;
  std::sort(m_sectors.data(), end, before);
  merge_equal();
}

// Lanes mostly come in ascending order: only the last sector can be the same.
void SectorList::add(SectorBytes touched) {
  if (m_count > 0 && m_sectors[m_count - 1].sector == touched.sector) {
    m_sectors[m_count - 1].byte_mask |= touched.byte_mask;
  } else {
    m_sectors[m_count++] = touched;
  }
}

void SectorList::merge_equal() {
  const std::size_t count = m_count;
  m_count = 0;
  for (std::size_t i = 0; i < count; ++i) add(m_sectors[i]);
}

std::uint64_t SectorList::lines() const {
  constexpr std::uint64_t kSectorsPerLine = kLineBytes / kSectorBytes;
  std::uint64_t lines = 0, last = ~std::uint64_t{0};
  for (const SectorBytes& one : *this) {
    lines += one.sector / kSectorsPerLine != last ? 1 : 0;
    last = one.sector / kSectorsPerLine;
  }
  return lines;
}

std::uint64_t shared_passes(const LaneAddresses& lanes) {
  if (all_equal(lanes) || consecutive_words(lanes)) return 1;
  if (lanes.bytes <= 4) return count_wavefronts(lanes.address.data(), lanes.mask, lanes.bytes);
  const LaneAddresses packed = with_pairs_packed(lanes);
  return count_wavefronts(packed.address.data(), packed.mask, packed.bytes);
}

std::uint64_t PassMemo::passes(const LaneAddresses& lanes) {
  const std::uint64_t base = first_address(lanes) & ~std::uint64_t{3};
  std::uint64_t differing = lanes.mask ^ m_pattern.mask;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t present = 0 - std::uint64_t{(lanes.mask >> lane) & 1u};
    differing |= ((lanes.address[lane] - base) ^ m_pattern.address[lane]) & present;
  }
  if (differing == 0 && m_passes != 0) return m_passes;
  m_pattern = lanes;
  for (std::uint64_t& address : m_pattern.address) address -= base;
  m_passes = shared_passes(lanes);
  return m_passes;
}

std::uint64_t distinct_addresses(const LaneAddresses& lanes) {
  std::array<std::uint64_t, kLanes> addresses;
  std::size_t count = 0;
  for_each_lane(lanes.mask, [&](std::size_t lane) { addresses[count++] = lanes.address[lane]; });
  std::sort(addresses.data(), addresses.data() + count);
  const auto* end = std::unique(addresses.data(), addresses.data() + count);
  return static_cast<std::uint64_t>(end - addresses.data());
}

}  // namespace cudaopt::sim

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
  return count_wavefronts(lanes.address.data(), lanes.mask, lanes.bytes);
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

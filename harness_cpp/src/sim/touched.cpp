#include "sim/touched.hpp"

#include <algorithm>
#include <iterator>

#include "sim/l1.hpp"
#include "sim/memory.hpp"

namespace cudaopt::sim {
namespace {

constexpr std::uint64_t kSectorsPerArray = kGlobalStride / kSectorBytes;
constexpr std::uint32_t kWholeSector = 0xffffffffu;
constexpr std::uint64_t kNone = ~std::uint64_t{0};

// Counts 64-byte units as their sectors come by in ascending order.
class UnitCounter {
 public:
  // 1 for the first sector of a unit, else 0.
  std::uint64_t count(std::uint64_t sector) {
    const bool fresh = sector / 2 != m_last;
    m_last = sector / 2;
    return fresh ? 1 : 0;
  }

 private:
  std::uint64_t m_last = kNone;
};

}  // namespace

TouchedSectors::TouchedSectors() : m_entries(1024) {}

TouchedSectors::Entry& TouchedSectors::slot_of(std::uint64_t sector) {
  const std::size_t last = m_entries.size() - 1;
  std::size_t at = static_cast<std::size_t>((sector * 0x9e3779b97f4a7c15u) >> 20) & last;
  while (m_entries[at].used && m_entries[at].sector != sector) at = (at + 1) & last;
  return m_entries[at];
}

void TouchedSectors::grow() {
  std::vector<Entry> old(m_entries.size() * 2);
  old.swap(m_entries);
  for (const Entry& entry : old) {
    if (entry.used) slot_of(entry.sector) = entry;
  }
}

TouchedSectors::Entry& TouchedSectors::touch(std::uint64_t sector, bool& first) {
  Entry* entry = &slot_of(sector);
  first = !entry->used;
  if (!first) return *entry;
  if ((m_used + 1) * 2 > m_entries.size()) {
    grow();
    entry = &slot_of(sector);
  }
  ++m_used;
  *entry = Entry{sector, 0, 1, 0};
  return *entry;
}

bool TouchedSectors::read(std::uint64_t sector) {
  bool first = false;
  touch(sector, first).read = 1;
  return first;
}

bool TouchedSectors::write(std::uint64_t sector, std::uint32_t byte_mask) {
  bool first = false;
  touch(sector, first).written |= byte_mask;
  return first;
}

std::vector<TouchedSectors::Entry> TouchedSectors::sorted() const {
  std::vector<Entry> touched;
  touched.reserve(m_used);
  std::copy_if(m_entries.begin(), m_entries.end(), std::back_inserter(touched),
               [](const Entry& entry) { return entry.used; });
  std::sort(touched.begin(), touched.end(),
            [](const Entry& a, const Entry& b) { return a.sector < b.sector; });
  return touched;
}

std::vector<model::ArrayTouch> TouchedSectors::summary() const {
  std::vector<model::ArrayTouch> arrays;
  UnitCounter reads, writes, fills;
  for (const Entry& entry : sorted()) {
    const std::uint64_t base = entry.sector / kSectorsPerArray * kGlobalStride;
    if (arrays.empty() || arrays.back().base != base) arrays.push_back({base, 0, 0, 0, 0, 0});
    model::ArrayTouch& array = arrays.back();
    if (entry.read) {
      ++array.read_sectors;
      array.read_units += reads.count(entry.sector);
    }
    if (entry.written == 0) continue;
    ++array.written_sectors;
    array.written_units += writes.count(entry.sector);
    if (entry.written != kWholeSector && !entry.read) {
      array.filled_units += fills.count(entry.sector);
    }
  }
  return arrays;
}

}  // namespace cudaopt::sim

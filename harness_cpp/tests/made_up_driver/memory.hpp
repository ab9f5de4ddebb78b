// The memory of the made-up GPUs: host memory, and a book of who may touch which bytes. Kernels
// look there before they touch any, so a wild address ends in a result, not in a signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "result.hpp"

namespace made_up {

constexpr std::uint64_t kPageBytes = 2u << 20;  // of a GPU

[[nodiscard]] constexpr std::uint64_t in_whole_pages(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

struct Region {
  std::uint64_t bytes = 0;
  bool readable = true, writable = true;
};

class AddressSpace {
 public:
  void add(DevicePointer base, Region region) { m_regions[base] = region; }
  void remove(DevicePointer base) { m_regions.erase(base); }
  [[nodiscard]] Region* find(DevicePointer base);
  [[nodiscard]] bool holds(DevicePointer base) const { return m_regions.count(base) != 0; }
  [[nodiscard]] bool may_read(DevicePointer from, std::uint64_t bytes) const;
  [[nodiscard]] bool may_write(DevicePointer to, std::uint64_t bytes) const;

 private:
  [[nodiscard]] const Region* around(DevicePointer at, std::uint64_t bytes) const;

  std::map<DevicePointer, Region> m_regions;
};

[[nodiscard]] AddressSpace& addresses();

// Address space whose first byte is a multiple of a page's; nothing may be touched there yet.
[[nodiscard]] DevicePointer reserve(std::uint64_t bytes);
void unreserve(DevicePointer base, std::uint64_t bytes);
// Makes reserved pages usable, with some bytes in them that a program must not rely on.
void back(DevicePointer base, std::uint64_t bytes);
// Forgets what is in the pages; nothing may be touched there any more.
void unback(DevicePointer base, std::uint64_t bytes);

template <class T = void>
[[nodiscard]] T* host_pointer(DevicePointer at) {
  return reinterpret_cast<T*>(at);  // NOLINT: the double's memory is the host's
}

}  // namespace made_up

#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace made_up {
namespace {

constexpr std::uint64_t kLeftoverBytes = 1u << 20;
constexpr int kLeftover = 0xA5;
constexpr int kLazily = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

AddressSpace& addresses() {
  static AddressSpace only;
  return only;
}

Region* AddressSpace::find(DevicePointer base) {
  const auto found = m_regions.find(base);
  return found == m_regions.end() ? nullptr : &found->second;
}

const Region* AddressSpace::around(DevicePointer at, std::uint64_t bytes) const {
  auto after = m_regions.upper_bound(at);
  if (after == m_regions.begin()) return nullptr;
  const auto& [base, region] = *std::prev(after);
  return at + bytes <= base + region.bytes ? &region : nullptr;
}

bool AddressSpace::may_read(DevicePointer from, std::uint64_t bytes) const {
  const Region* region = around(from, bytes);
  return bytes == 0 || (region != nullptr && region->readable);
}

bool AddressSpace::may_write(DevicePointer to, std::uint64_t bytes) const {
  const Region* region = around(to, bytes);
  return bytes == 0 || (region != nullptr && region->writable);
}

DevicePointer reserve(std::uint64_t bytes) {
  void* whole = mmap(nullptr, bytes + kPageBytes, PROT_NONE, kLazily, -1, 0);
  if (whole == MAP_FAILED) return 0;
  const auto start = reinterpret_cast<DevicePointer>(whole);
  const DevicePointer base = in_whole_pages(start);
  if (base > start) munmap(whole, base - start);
  const std::uint64_t rest = start + kPageBytes - base;
  if (rest > 0) munmap(host_pointer(base + bytes), rest);
  return base;
}

void unreserve(DevicePointer base, std::uint64_t bytes) { munmap(host_pointer(base), bytes); }

void back(DevicePointer base, std::uint64_t bytes) {
  mprotect(host_pointer(base), bytes, PROT_READ | PROT_WRITE);
  std::memset(host_pointer(base), kLeftover, std::min(bytes, kLeftoverBytes));
}

void unback(DevicePointer base, std::uint64_t bytes) {
  mmap(host_pointer(base), bytes, PROT_NONE, kLazily | MAP_FIXED, -1, 0);
}

}  // namespace made_up

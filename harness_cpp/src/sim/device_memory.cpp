#include "sim/device_memory.hpp"

#include <algorithm>
#include <cstring>

namespace cudaopt::sim {
namespace {

constexpr std::uint64_t kUnit = 256;  // cudaMalloc's alignment

std::uint64_t round_up(std::uint64_t value) { return (value + kUnit - 1) / kUnit * kUnit; }

// Byte `at` (it may be negative) of a pattern repeated from byte 0 of the buffer.
std::uint8_t pattern_byte(const std::vector<std::uint8_t>& pattern, std::int64_t at) {
  if (pattern.empty()) return 0;
  const auto size = static_cast<std::int64_t>(pattern.size());
  return pattern[static_cast<std::size_t>((at % size + size) % size)];
}

void fill_bytes(std::uint8_t* to, std::uint64_t count, const std::vector<std::uint8_t>& pattern,
                std::int64_t first) {
  if (pattern.size() <= 1) {
    std::memset(to, pattern_byte(pattern, 0), count);
    return;
  }
  std::uint64_t filled = std::min<std::uint64_t>(count, pattern.size());
  for (std::uint64_t i = 0; i < filled; ++i) {
    to[i] = pattern_byte(pattern, first + static_cast<std::int64_t>(i));
  }
  // Whole patterns so far: each copy doubles them.
  while (filled < count) {
    const std::uint64_t more = std::min(filled, count - filled);
    std::memcpy(to + filled, to, more);
    filled += more;
  }
}

void check_addressable(const std::string& name, std::uint64_t bytes, std::uint64_t offset_bytes) {
  if (bytes < kGlobalStride / 4 && offset_bytes < kGlobalStride / 4) return;
  throw Fault(FaultKind::out_of_memory, "buffer '" + name + "': " + std::to_string(bytes) +
                                            " bytes at offset " + std::to_string(offset_bytes) +
                                            " are beyond what sim can address");
}

}  // namespace

DeviceMemory::DeviceMemory() {
  m_allocations.emplace_back();
  m_storage.emplace_back();
}

// The pattern starts at the byte the kernel sees first, so that elements are whole patterns.
void DeviceMemory::Storage::fill_with_poison() {
  if (tiles != nullptr) return;
  fill_bytes(bytes.get(), size, poison, -static_cast<std::int64_t>(begin));
}

std::size_t DeviceMemory::allocate(const std::string& name, std::uint64_t bytes,
                                   std::uint64_t offset_bytes, std::uint64_t guard_bytes,
                                   const std::vector<std::uint8_t>& poison) {
  check_addressable(name, bytes, offset_bytes);
  Storage storage;
  const std::uint64_t front = round_up(guard_bytes);  // keeps host and device alignment equal
  storage.begin = front + offset_bytes;
  storage.size = round_up(storage.begin + bytes + guard_bytes);
  storage.poison = poison;
  try {
    storage.bytes.reset(new (kAlignment) std::uint8_t[storage.size]);
  } catch (const std::bad_alloc&) {
    throw Fault(FaultKind::out_of_memory, "buffer '" + name + "': no host memory for " +
                                              std::to_string(bytes) + " bytes; use a smaller case");
  }
  storage.fill_with_poison();
  std::uint8_t* const host = storage.bytes.get() + storage.begin;
  return add(name, bytes, offset_bytes, host, std::move(storage));
}

// Guards need no memory: every access is held against the buffer's bounds.
std::size_t DeviceMemory::allocate_tiled(const BufferSpec& spec) {
  check_addressable(spec.name, spec.bytes, spec.offset_bytes);
  Storage storage;
  storage.tiles =
      std::make_unique<TiledMemory>(spec.name, spec.tile, spec.bytes, spec.offset_bytes % kUnit);
  std::uint8_t* const host = storage.tiles->first();
  return add(spec.name, spec.bytes, spec.offset_bytes, host, std::move(storage));
}

std::size_t DeviceMemory::add(const std::string& name, std::uint64_t bytes,
                              std::uint64_t offset_bytes, std::uint8_t* host, Storage storage) {
  Allocation allocation;
  allocation.base = m_allocations.size() * kGlobalStride + offset_bytes;
  allocation.bytes = bytes;
  allocation.host = host;
  allocation.has_contents = storage.tiles != nullptr;
  allocation.name = name;
  m_allocations.push_back(std::move(allocation));
  m_storage.push_back(std::move(storage));
  return m_allocations.size() - 1;
}

void DeviceMemory::create_buffer(const BufferSpec& spec) {
  if (m_buffers.count(spec.name) != 0) {
    throw Fault(FaultKind::invalid_request, "buffer '" + spec.name + "' exists already");
  }
  if (!spec.alias.empty()) return create_alias(spec);
  const std::size_t index = spec.tile.empty() ? allocate(spec.name, spec.bytes, spec.offset_bytes,
                                                         spec.guard_bytes, spec.poison)
                                              : allocate_tiled(spec);
  m_allocations[index].read_only = spec.access == Access::read || !spec.tile.empty();
  m_allocations[index].element_bytes = spec.element_bytes == 0 ? 1 : spec.element_bytes;
  m_buffers[spec.name] = {index, 0, spec.bytes};
}

// One address, two names: the kernel may write if it may write through either.
void DeviceMemory::create_alias(const BufferSpec& spec) {
  Buffer alias = find(spec.alias);
  if (spec.offset_bytes > alias.bytes || spec.bytes > alias.bytes - spec.offset_bytes) {
    throw Fault(FaultKind::invalid_request,
                "buffer '" + spec.name + "': " + std::to_string(spec.bytes) + " bytes at offset " +
                    std::to_string(spec.offset_bytes) + " do not fit in '" + spec.alias + "' of " +
                    std::to_string(alias.bytes) + " bytes");
  }
  alias.offset += spec.offset_bytes;
  alias.bytes = spec.bytes;
  if (spec.access != Access::read) {
    static_cast<void>(writable(spec.name, alias));
    m_allocations[alias.allocation].read_only = false;
  }
  m_buffers[spec.name] = alias;
}

std::uint64_t DeviceMemory::create_variable(const std::string& name, std::uint64_t bytes) {
  Allocation& variable = m_allocations[allocate(name, bytes, 0, 0, {})];
  variable.has_contents = true;
  return variable.base;
}

const DeviceMemory::Buffer& DeviceMemory::find(const std::string& buffer) const {
  const auto found = m_buffers.find(buffer);
  if (found == m_buffers.end()) {
    throw Fault(FaultKind::invalid_request, "buffer '" + buffer + "' was never created");
  }
  return found->second;
}

std::uint8_t* DeviceMemory::host(const Buffer& buffer) const {
  return m_allocations[buffer.allocation].host + buffer.offset;
}

std::uint8_t* DeviceMemory::writable(const std::string& name, const Buffer& buffer) const {
  if (m_storage[buffer.allocation].tiles == nullptr) return host(buffer);
  throw Fault(FaultKind::invalid_request,
              "buffer '" + name +
                  "': its memory is one tile again and again, which nothing may "
                  "write. Use an \"initial_file\".");
}

std::uint64_t DeviceMemory::address_of(const std::string& buffer) const {
  const Buffer& found = find(buffer);
  return m_allocations[found.allocation].base + found.offset;
}

void DeviceMemory::write(const std::string& buffer, const std::vector<std::uint8_t>& bytes) {
  const Buffer& found = find(buffer);
  if (bytes.size() != found.bytes) {
    throw Fault(FaultKind::invalid_request, "buffer '" + buffer + "' has " +
                                                std::to_string(found.bytes) + " bytes, got " +
                                                std::to_string(bytes.size()) + " to write");
  }
  std::uint8_t* const to = writable(buffer, found);
  if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
  m_allocations[found.allocation].has_contents = true;
}

std::vector<std::uint8_t> DeviceMemory::read(const std::string& buffer) const {
  const Buffer& found = find(buffer);
  return {host(found), host(found) + found.bytes};
}

void DeviceMemory::fill(const std::string& buffer, const std::vector<std::uint8_t>& pattern) {
  const Buffer& found = find(buffer);
  fill_bytes(writable(buffer, found), found.bytes, pattern, 0);
  m_allocations[found.allocation].has_contents = true;
}

void DeviceMemory::poison(const std::string& buffer,
                          const std::optional<std::vector<std::uint8_t>>& pattern) {
  const std::size_t index = find(buffer).allocation;
  Storage& storage = m_storage[index];
  if (storage.tiles != nullptr) return;
  m_allocations[index].has_contents = false;
  if (pattern) storage.poison = *pattern;
  storage.fill_with_poison();
}

bool DeviceMemory::guards_intact(const std::string& buffer) const {
  const Buffer& found = find(buffer);
  const Storage& storage = m_storage[found.allocation];
  const std::uint64_t end = storage.begin + m_allocations[found.allocation].bytes;
  const auto intact = [&](std::uint64_t from, std::uint64_t to) {
    for (std::uint64_t i = from; i < to; ++i) {
      const auto at = static_cast<std::int64_t>(i) - static_cast<std::int64_t>(storage.begin);
      if (storage.bytes[i] != pattern_byte(storage.poison, at)) return false;
    }
    return true;
  };
  return intact(0, storage.begin) && intact(end, storage.size);
}

std::uint8_t* DeviceMemory::variable_bytes(std::uint64_t address) {
  return m_allocations[static_cast<std::size_t>(address / kGlobalStride)].host;
}

void DeviceMemory::count_as_written() {
  for (Allocation& allocation : m_allocations) {
    allocation.has_contents = allocation.has_contents || !allocation.read_only;
  }
}

DeviceMemory::Snapshot DeviceMemory::snapshot() const {
  Snapshot snapshot(m_storage.size());
  for (std::size_t i = 0; i < m_storage.size(); ++i) {
    if (m_allocations[i].read_only) continue;
    const Storage& storage = m_storage[i];
    snapshot[i].assign(storage.bytes.get(), storage.bytes.get() + storage.size);
  }
  return snapshot;
}

void DeviceMemory::restore(const Snapshot& snapshot) {
  for (std::size_t i = 0; i < snapshot.size(); ++i) {
    if (snapshot[i].empty()) continue;
    std::memcpy(m_storage[i].bytes.get(), snapshot[i].data(), snapshot[i].size());
  }
}

}  // namespace cudaopt::sim

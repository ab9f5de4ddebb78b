// The memory of one device: buffers and module variables, each at its own multiple of 2^40.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "device.hpp"
#include "sim/memory.hpp"
#include "sim/tiled_memory.hpp"

namespace cudaopt::sim {

class DeviceMemory {
 public:
  DeviceMemory();

  // Throws Fault invalid_request (name taken, alias unknown or too small), out_of_memory.
  void create_buffer(const BufferSpec& spec);
  // Zeroed memory for a module's .global variable; its device address.
  [[nodiscard]] std::uint64_t create_variable(const std::string& name, std::uint64_t bytes);

  [[nodiscard]] std::uint64_t address_of(const std::string& buffer) const;
  void write(const std::string& buffer, const std::vector<std::uint8_t>& bytes);
  [[nodiscard]] std::vector<std::uint8_t> read(const std::string& buffer) const;
  void fill(const std::string& buffer, const std::vector<std::uint8_t>& pattern);
  // The whole allocation, guards included; nullopt: the pattern it had.
  void poison(const std::string& buffer, const std::optional<std::vector<std::uint8_t>>& pattern);
  [[nodiscard]] bool guards_intact(const std::string& buffer) const;
  [[nodiscard]] std::uint8_t* variable_bytes(std::uint64_t address);
  // A launch is over: whatever it may have written counts as contents from now on.
  void count_as_written();

  // By address (see `allocation_of`); entry 0 is empty.
  [[nodiscard]] const std::vector<Allocation>& allocations() const { return m_allocations; }

  // What a kernel may write, to be put back after `measure`.
  using Snapshot = std::vector<std::vector<std::uint8_t>>;
  [[nodiscard]] Snapshot snapshot() const;
  void restore(const Snapshot& snapshot);

 private:
  static constexpr std::align_val_t kAlignment{256};
  struct FreeAligned {
    void operator()(std::uint8_t* bytes) const { ::operator delete[](bytes, kAlignment); }
  };
  // Guards and offset included.
  struct Storage {
    std::unique_ptr<std::uint8_t[], FreeAligned> bytes;
    std::uint64_t size = 0, begin = 0;  // `begin`: of the first byte the kernel may touch
    std::vector<std::uint8_t> poison;
    std::unique_ptr<TiledMemory> tiles;  // instead of `bytes`
    void fill_with_poison();
  };
  struct Buffer {
    std::size_t allocation = 0;
    std::uint64_t offset = 0, bytes = 0;  // within the allocation, for aliases
  };
  std::size_t allocate(const std::string& name, std::uint64_t bytes, std::uint64_t offset_bytes,
                       std::uint64_t guard_bytes, const std::vector<std::uint8_t>& poison);
  std::size_t allocate_tiled(const BufferSpec& spec);
  std::size_t add(const std::string& name, std::uint64_t bytes, std::uint64_t offset_bytes,
                  std::uint8_t* host, Storage storage);
  void create_alias(const BufferSpec& spec);
  [[nodiscard]] const Buffer& find(const std::string& buffer) const;
  [[nodiscard]] std::uint8_t* host(const Buffer& buffer) const;
  // Where the host writes; throws Fault invalid_request if tiles are there.
  [[nodiscard]] std::uint8_t* writable(const std::string& name, const Buffer& buffer) const;

  std::vector<Allocation> m_allocations;
  std::vector<Storage> m_storage;  // same index
  std::unordered_map<std::string, Buffer> m_buffers;
};

// Puts memory back when a measurement ends, however it ends.
class RestoreMemory {
 public:
  explicit RestoreMemory(DeviceMemory& memory) : m_memory(memory), m_before(memory.snapshot()) {}
  RestoreMemory(const RestoreMemory&) = delete;
  RestoreMemory& operator=(const RestoreMemory&) = delete;
  ~RestoreMemory() { m_memory.restore(m_before); }

 private:
  DeviceMemory& m_memory;
  DeviceMemory::Snapshot m_before;
};

}  // namespace cudaopt::sim

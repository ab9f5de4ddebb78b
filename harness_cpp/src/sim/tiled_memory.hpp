// Memory that holds one tile over and over and takes the room of one: arrays of many gigabytes
// whose values nobody needs all of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cudaopt::sim {

class TiledMemory {
 public:
  // `bytes` bytes from an address that is `phase` past a page; `tile` is whole pages. `name` is
  // the buffer's. Throws Fault out_of_memory.
  TiledMemory(const std::string& name, const std::vector<std::uint8_t>& tile, std::uint64_t bytes,
              std::uint64_t phase);

  // Of the tile's first byte. Writing there ends the process.
  [[nodiscard]] std::uint8_t* first() const { return m_memory.base + m_phase; }

 private:
  // Addresses, given back with what is mapped there.
  struct Reserved {
    Reserved() = default;
    Reserved(const Reserved&) = delete;
    Reserved& operator=(const Reserved&) = delete;
    ~Reserved();
    void reserve(const std::string& name, std::uint64_t wanted);
    std::uint8_t* base = nullptr;
    std::uint64_t bytes = 0;
  };
  Reserved m_memory;
  std::uint64_t m_phase = 0;
};

}  // namespace cudaopt::sim

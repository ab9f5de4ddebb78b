// What a launch with checks keeps of one array: a buffer, a module variable, or a block's shared
// memory.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/access_cells.hpp"
#include "sim/memory.hpp"
#include "sim/program.hpp"
#include "sim/sector_set.hpp"

namespace cudaopt::sim {

// Reads of cells nobody had written. They are kept back: if another thread writes the cell without
// order, the mistake is the missing order.
class UnwrittenReads {
 public:
  struct Read {
    std::uint64_t offset = 0;  // of the cell
    std::uint32_t bytes = 0;   // of the lane's access
    std::uint64_t block = 0;
    Stamp stamp = 0;
  };

  // Of one more cell than this nothing is remembered: what is there tells enough.
  static constexpr std::size_t kMost = 65536;

  void add(const Read& read);
  [[nodiscard]] const Read* find(std::uint64_t offset) const;
  void forget(std::uint64_t offset);
  // In the order they were made, one for all cells of an access.
  [[nodiscard]] std::vector<Read> take();

 private:
  std::unordered_map<std::uint64_t, std::size_t> m_at;  // by offset
  std::vector<Read> m_reads;                            // forgotten ones have stamp 0
};

struct WatchedArray {
  const Allocation* allocation = nullptr;  // nullptr: shared memory
  std::uint64_t origin = 0;                // address of cell 0
  std::uint8_t* host = nullptr;            // of cell 0
  bool tracked = false;                    // who accesses it
  bool counted = false;                    // which of its sectors are touched
  bool has_contents = false;               // before the launch
  AccessCells cells;
  SectorSet sectors;
  UnwrittenReads unwritten;
};

// How messages name a byte of an array.
struct ArrayPlace {
  std::string name;
  const char* space = "global";
  std::int64_t element = 0;
  std::uint64_t elements = 0;  // 0: unknown
};

// `bytes`: of the access, which counts as the element where the array does not say one.
[[nodiscard]] ArrayPlace place_of(const Program& program, const WatchedArray& array,
                                  std::uint64_t offset, std::uint32_t bytes);

// The index of the shared variable at this offset: distinguishes arrays that share one memory.
[[nodiscard]] std::size_t variable_at(const Program& program, std::uint64_t offset);

// "tile" of "_ZZ6kernelPfE4tile".
[[nodiscard]] std::string plain_variable_name(const std::string& mangled);

}  // namespace cudaopt::sim

// Who accessed each cell of one array last: a cell is 4 bytes, or as few as the narrowest access to
// the array needs, so that neighbours which write bytes of one word do not collide.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "sim/access_stamp.hpp"

namespace cudaopt::sim {

class AccessCells {
 public:
  AccessCells() = default;
  // Throws std::bad_alloc.
  AccessCells(std::uint64_t bytes, int shift);

  // Makes cells of at most so many bytes, which take over the stamps of the larger ones.
  void refine(std::uint32_t bytes);

  [[nodiscard]] int shift() const { return m_shift; }  // log2 of a cell's bytes
  [[nodiscard]] std::uint64_t count() const { return m_count; }

  // By cell: the last write; the last read; the last read by another warp than that one.
  [[nodiscard]] Stamp* writes() const { return m_writes.get(); }
  [[nodiscard]] Stamp* reads() const { return m_reads.get(); }
  [[nodiscard]] Stamp* other_reads() const { return m_other_reads.get(); }

  [[nodiscard]] static std::uint64_t memory_bytes(std::uint64_t bytes, int shift) {
    return ((bytes >> shift) + 1) * 3 * sizeof(Stamp);
  }

 private:
  struct Free {
    void operator()(Stamp* stamps) const { std::free(stamps); }
  };
  using Stamps = std::unique_ptr<Stamp[], Free>;
  [[nodiscard]] static Stamps make(std::uint64_t count);
  static void refine(Stamps& stamps, std::uint64_t count, int halvings);

  std::uint64_t m_count = 0;
  int m_shift = 2;
  Stamps m_writes, m_reads, m_other_reads;
};

}  // namespace cudaopt::sim

// The shadow of device memory, and what the blocks of one launch found out about it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device.hpp"
#include "sim/block.hpp"
#include "sim/shadow.hpp"

namespace cudaopt::sim {

// Cells for `bytes` of memory. Pages the kernel does not touch cost nothing.
class CellMemory {
 public:
  CellMemory() = default;
  CellMemory(std::uint64_t bytes, std::uint32_t cell_bytes);
  [[nodiscard]] const ShadowCells& cells() const { return m_cells; }
  void clear();  // nothing there has a shadow any more

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  template <class T>
  using Array = std::unique_ptr<T[], Free>;

  Array<double> m_values;
  Array<std::uint32_t> m_bits;
  Array<std::uint8_t> m_states;
  ShadowCells m_cells;
};

// Cells beside the allocations of one device, kept from launch to launch. Arrays the kernel may
// only read have none: their elements are exact.
class MemoryShadow {
 public:
  // Makes what is missing. Cells of another size, from a kernel with other formats, are dropped.
  void prepare(const std::vector<Allocation>& allocations, std::uint32_t cell_bytes);

  // By index of the allocation; what was not prepared has no cells.
  [[nodiscard]] const ShadowCells& cells_of(std::size_t allocation) const;

 private:
  std::vector<CellMemory> m_memory;
};

class LaunchShadow {
 public:
  explicit LaunchShadow(const MemoryShadow& memory) : m_memory(memory) {}

  [[nodiscard]] const ShadowCells& cells_of(std::size_t allocation) const {
    return m_memory.cells_of(allocation);
  }
  // From any thread.
  void add(const std::vector<LossCount>& losses);
  // What each instruction lost, by pc; empty if nothing ran.
  [[nodiscard]] const std::vector<LossCount>& losses() const { return m_losses; }

 private:
  const MemoryShadow& m_memory;
  std::mutex m_mutex;
  std::vector<LossCount> m_losses;
};

// What one worker needs beside its registers and memory, for a program with a shadow.
class WorkerShadow {
 public:
  WorkerShadow(const Launch& launch, std::vector<Warp>& warps, std::uint64_t local_bytes);
  WorkerShadow(const WorkerShadow&) = delete;
  WorkerShadow& operator=(const WorkerShadow&) = delete;
  ~WorkerShadow();  // tells the launch what its blocks lost
  void begin_block();

 private:
  struct FreeAligned {
    void operator()(std::uint8_t* bytes) const;
  };
  LaunchShadow* m_launch;
  const ShadowPlan& m_plan;
  std::unique_ptr<std::uint8_t[], FreeAligned> m_cells;
  std::vector<Taint> m_taints;
  std::vector<WarpShadow> m_warps;
  std::size_t m_cells_bytes;
  bool m_reads_unwritten;
  CellMemory m_shared, m_local;
  BlockShadow m_block;
};

}  // namespace cudaopt::sim

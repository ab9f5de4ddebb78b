#include "sim/launch_shadow.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace cudaopt::sim {
namespace {

constexpr std::align_val_t kAlignment{64};

// Zeroed by the system, page by page when first touched.
template <class T>
T* zeroed(std::uint64_t count) {
  void* memory = std::calloc(count, sizeof(T));
  if (memory == nullptr) {
    throw Fault(FaultKind::out_of_memory,
                "no host memory for the float64 shadow of " + std::to_string(count) +
                    " elements; use a smaller case, or leave out checks.rounding");
  }
  return static_cast<T*>(memory);
}

}  // namespace

void CellMemory::Free::operator()(void* memory) const { std::free(memory); }

CellMemory::CellMemory(std::uint64_t bytes, std::uint32_t cell_bytes) {
  m_cells.cell_bytes = cell_bytes;
  m_cells.count = (bytes + cell_bytes - 1) / cell_bytes;
  if (m_cells.count == 0) return;
  m_values.reset(zeroed<double>(m_cells.count));
  m_bits.reset(zeroed<std::uint32_t>(m_cells.count));
  m_states.reset(zeroed<std::uint8_t>(m_cells.count));
  m_cells.values = m_values.get();
  m_cells.bits = m_bits.get();
  m_cells.states = m_states.get();
}

void CellMemory::clear() {
  if (m_cells.count != 0) std::memset(m_cells.states, 0, m_cells.count);
}

void MemoryShadow::prepare(const std::vector<Allocation>& allocations, std::uint32_t cell_bytes) {
  m_memory.resize(allocations.size());
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    const ShadowCells& cells = m_memory[i].cells();
    const bool fits = cells.count != 0 && cells.cell_bytes == cell_bytes;
    if (allocations[i].read_only || fits) continue;
    m_memory[i] = CellMemory(allocations[i].bytes, cell_bytes);
  }
}

const ShadowCells& MemoryShadow::cells_of(std::size_t allocation) const {
  static const ShadowCells kNone;
  return allocation < m_memory.size() ? m_memory[allocation].cells() : kNone;
}

void LaunchShadow::add(const std::vector<LossCount>& losses) {
  const std::lock_guard<std::mutex> lock(m_mutex);
  m_losses.resize(losses.size());
  for (std::size_t pc = 0; pc < losses.size(); ++pc) {
    m_losses[pc].lanes += losses[pc].lanes;
    m_losses[pc].losing_lanes += losses[pc].losing_lanes;
    m_losses[pc].growth += losses[pc].growth;
    if (losses[pc].worst.exceeds(m_losses[pc].worst)) m_losses[pc].worst = losses[pc].worst;
  }
}

void WorkerShadow::FreeAligned::operator()(std::uint8_t* bytes) const {
  ::operator delete[](bytes, kAlignment);
}

WorkerShadow::WorkerShadow(const Launch& launch, std::vector<Warp>& warps,
                           std::uint64_t local_bytes)
    : m_launch(launch.shadow),
      m_plan(*launch.program->shadow),
      m_taints(std::size_t{m_plan.taints} * warps.size()),
      m_warps(warps.size()),
      m_cells_bytes(m_plan.cells_bytes(launch.program->register_bytes) * warps.size()),
      m_reads_unwritten(launch.program->reads_unwritten),
      m_shared(launch.shared_bytes, m_plan.cell_bytes),
      m_local(local_bytes, m_plan.cell_bytes) {
  const std::uint64_t bytes = m_plan.cells_bytes(launch.program->register_bytes);
  m_cells.reset(new (kAlignment) std::uint8_t[m_cells_bytes + 1]());
  m_block.shared = m_shared.cells();
  m_block.local = m_local.cells();
  m_block.losses.resize(m_plan.ops.size());
  for (std::size_t i = 0; i < warps.size(); ++i) {
    WarpShadow& shadow = m_warps[i];
    shadow.cells = m_cells.get() + bytes * i;
    shadow.taints = m_taints.data() + std::size_t{m_plan.taints} * i;
    shadow.ops = m_plan.ops.data();
    shadow.cells_per_word = m_plan.cells_per_word;
    shadow.block = &m_block;
    warps[i].shadow = &shadow;
  }
}

WorkerShadow::~WorkerShadow() {
  if (m_launch != nullptr) m_launch->add(m_block.losses);
}

void WorkerShadow::begin_block() {
  std::fill(m_taints.begin(), m_taints.end(), Taint{});
  if (m_reads_unwritten) std::memset(m_cells.get(), 0, m_cells_bytes);
  for (WarpShadow& warp : m_warps) warp.undecided = 0;
  m_shared.clear();
  m_block.shared_tainted = false;
  m_local.clear();
  for (LossCount& count : m_block.losses) count.executions = count.losing = 0;
}

}  // namespace cudaopt::sim

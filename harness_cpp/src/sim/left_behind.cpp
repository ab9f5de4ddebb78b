#include "sim/left_behind.hpp"

namespace cudaopt::sim {
namespace {

constexpr Stamp kTimeBits = stamp::at(kTimes - 1);

}  // namespace

void LeftBehind::begin(std::size_t warps) { m_gone.assign(warps, {}); }

void LeftBehind::forget(const AccessCells& cells) {
  if (!m_any) return;
  m_any = false;
  for (std::uint64_t cell = 0; cell < cells.count(); ++cell) {
    Stamp& written = cells.writes()[cell];
    if (stamp::time(written) == kLeftBehind) written = 0;
  }
}

void LeftBehind::mark(const AccessCells& cells, const Leaving& left, std::int32_t barrier_pc,
                      Time since) {
  Gone& gone = m_gone[left.warp];
  const std::uint32_t lanes = left.lanes & ~gone.lanes;
  if (lanes == 0) return;
  gone.lanes |= lanes;
  gone.barrier_pc = barrier_pc;
  m_any = true;
  for (std::uint64_t cell = 0; cell < cells.count(); ++cell) {
    Stamp& written = cells.writes()[cell];
    const bool theirs =
        stamp::warp(written) == left.warp && (lanes >> stamp::lane(written) & 1u) != 0;
    const Time time = stamp::time(written);
    if (theirs && time >= since && time < kLeftBehind)
      written = (written & ~kTimeBits) | stamp::at(kLeftBehind);
  }
}

std::int32_t LeftBehind::barrier_of(Stamp marked) const {
  return m_gone[stamp::warp(marked)].barrier_pc;
}

}  // namespace cudaopt::sim

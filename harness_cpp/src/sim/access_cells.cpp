#include "sim/access_cells.hpp"

#include <new>

namespace cudaopt::sim {

// From calloc: pages nobody touches cost nothing.
AccessCells::Stamps AccessCells::make(std::uint64_t count) {
  auto* stamps = static_cast<Stamp*>(std::calloc(count, sizeof(Stamp)));
  if (stamps == nullptr) throw std::bad_alloc();
  return Stamps(stamps);
}

AccessCells::AccessCells(std::uint64_t bytes, int shift)
    : m_count((bytes >> shift) + 1),
      m_shift(shift),
      m_writes(make(m_count)),
      m_reads(make(m_count)),
      m_other_reads(make(m_count)) {}

void AccessCells::refine(Stamps& stamps, std::uint64_t count, int halvings) {
  Stamps fine = make(count << halvings);
  for (std::uint64_t i = 0; i < count << halvings; ++i) {
    const Stamp stamp = stamps[i >> halvings];
    if (stamp != 0) fine[i] = stamp;
  }
  stamps = std::move(fine);
}

void AccessCells::refine(std::uint32_t bytes) {
  const int halvings = m_shift - __builtin_ctz(bytes);
  if (halvings <= 0) return;
  refine(m_writes, m_count, halvings);
  refine(m_reads, m_count, halvings);
  refine(m_other_reads, m_count, halvings);
  m_count <<= halvings;
  m_shift -= halvings;
}

}  // namespace cudaopt::sim

// One lane's way to an mbarrier in shared memory.
#pragma once

#include <cstdint>
#include <string>

#include "sim/block.hpp"
#include "sim/mbarrier.hpp"
#include "sim/memory.hpp"

namespace cudaopt::sim {

class MbarrierAccess {
 public:
  // Raises a Fault unless eight aligned bytes of memory are there.
  MbarrierAccess(Warp& warp, const Op& op, ptx::Space space, std::uint64_t address, int lane);

  // Raises uninitialized_read if nothing was set up here.
  [[nodiscard]] Mbarrier read() const;
  void write(const Mbarrier& barrier);
  void invalidate();

  // What `count` arrivals leave of `now`; a Fault if it waits for fewer.
  [[nodiscard]] Mbarrier arrive(Mbarrier now, std::uint32_t count) const;

  [[noreturn]] void fail_count(const std::string& what) const;

 private:
  Warp& m_warp;
  const Op& m_op;
  std::uint64_t m_address;
  int m_lane;
  std::uint8_t* m_host;
};

}  // namespace cudaopt::sim

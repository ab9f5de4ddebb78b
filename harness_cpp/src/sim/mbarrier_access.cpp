#include "sim/mbarrier_access.hpp"

#include <cstring>
#include <utility>

namespace cudaopt::sim {
namespace {

constexpr std::uint32_t kBytes = 8;

}  // namespace

MbarrierAccess::MbarrierAccess(Warp& warp, const Op& op, ptx::Space space, std::uint64_t address,
                               int lane)
    : m_warp(warp),
      m_op(op),
      m_address(address),
      m_lane(lane),
      m_host(resolve(warp, op, space, address, kBytes, lane, AccessKind::atomic)) {}

Mbarrier MbarrierAccess::read() const {
  std::uint64_t bits = 0;
  std::memcpy(&bits, m_host, sizeof bits);
  if (bits != Mbarrier::kInvalid) return Mbarrier::from_bits(bits);
  FaultDetail detail;
  detail.kind = FaultKind::uninitialized_read;
  detail.space = "shared";
  detail.message = "the mbarrier at byte " + std::to_string(m_address & 0xffffffffu) +
                   " of shared memory is used before mbarrier.init (or after mbarrier.inval); let "
                   "one thread set it up, and the others wait for that at a barrier";
  fail(m_warp, m_op, m_lane, std::move(detail));
}

void MbarrierAccess::write(const Mbarrier& barrier) {
  const std::uint64_t bits = barrier.bits();
  std::memcpy(m_host, &bits, sizeof bits);
}

void MbarrierAccess::invalidate() { std::memset(m_host, 0xff, kBytes); }

Mbarrier MbarrierAccess::arrive(Mbarrier now, std::uint32_t count) const {
  if (count > now.pending)
    fail_count("gets " + std::to_string(count) + " arrivals, but its phase waits for " +
               std::to_string(now.pending) + " more");
  now.pending -= count;
  return now.settled();
}

void MbarrierAccess::fail_count(const std::string& what) const {
  FaultDetail detail;
  detail.kind = FaultKind::launch_error;
  detail.space = "shared";
  detail.message = "the mbarrier at byte " + std::to_string(m_address & 0xffffffffu) +
                   " of shared memory " + what;
  fail(m_warp, m_op, m_lane, std::move(detail));
}

}  // namespace cudaopt::sim

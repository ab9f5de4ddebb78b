#include "check.hpp"
#include "sim/mbarrier.hpp"

using namespace cudaopt::sim;

TEST("an mbarrier comes back from its bits") {
  const Mbarrier barrier{7, Mbarrier::kMaxCount, -1024, 5};
  const Mbarrier again = Mbarrier::from_bits(barrier.bits());
  CHECK_EQUAL(7u, again.pending);
  CHECK_EQUAL(Mbarrier::kMaxCount, again.expected);
  CHECK_EQUAL(-1024, again.bytes);
  CHECK_EQUAL(5u, again.phase);
}

TEST("no barrier that was set up looks like one that was not") {
  CHECK(Mbarrier::initial(Mbarrier::kMaxCount).bits() != Mbarrier::kInvalid);
}

TEST("a phase ends with the last arrival and the last byte") {
  Mbarrier barrier = Mbarrier::initial(1);
  const std::uint64_t before = barrier.bits();
  barrier.bytes = 16;
  barrier.pending = 0;
  CHECK(!barrier.settled().has_left(before));
  barrier.bytes = 0;
  const Mbarrier next = barrier.settled();
  CHECK(next.has_left(before));
  CHECK_EQUAL(1u, next.pending);
}

TEST("bytes that come before they are expected hold the phase open") {
  Mbarrier barrier = Mbarrier::initial(1);
  barrier.bytes = -16;
  barrier.pending = 0;
  CHECK_EQUAL(0u, barrier.settled().phase);
}

TEST("the parity asked for is that of the phase which is over") {
  Mbarrier barrier = Mbarrier::initial(1);
  CHECK(!barrier.has_left_parity(0));
  CHECK(barrier.has_left_parity(1));
  barrier.pending = 0;
  barrier = barrier.settled();
  CHECK(barrier.has_left_parity(0));
  CHECK(!barrier.has_left_parity(1));
}

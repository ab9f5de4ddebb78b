#include "check.hpp"
#include "sim/pending_copies.hpp"

using namespace cudaopt::sim;

namespace {

constexpr std::uint32_t kShared = 256;

bool is_pending(const PendingCopies& copies, std::uint32_t address) {
  return copies.find(address, 4) != nullptr;
}

}  // namespace

TEST("a copy is pending until its thread waits, and nowhere but where it writes") {
  PendingCopies copies;
  copies.start(kShared, 16, 8, 3, 42);
  CHECK(!is_pending(copies, 12));
  CHECK(is_pending(copies, 16) && is_pending(copies, 20));
  CHECK(!is_pending(copies, 24));
  const PendingCopies::Copy* copy = copies.find(0, 64);
  CHECK(copy != nullptr);
  CHECK_EQUAL(3u, copy->thread);
  CHECK_EQUAL(42, copy->pc);
  copies.finish(3);
  CHECK(!is_pending(copies, 16));
}

TEST("waiting without committing leaves the copy pending") {
  PendingCopies copies;
  copies.start(kShared, 0, 16, 0, 0);
  copies.wait(0, 0);
  CHECK(is_pending(copies, 0));
  copies.commit(0);
  CHECK(is_pending(copies, 0));
  copies.wait(0, 0);
  CHECK(!is_pending(copies, 0));
}

TEST("a wait for all but the last group leaves that group pending") {
  PendingCopies copies;
  copies.start(kShared, 0, 16, 0, 0);
  copies.commit(0);
  copies.start(kShared, 16, 16, 0, 0);
  copies.commit(0);
  copies.wait(0, 1);
  CHECK(!is_pending(copies, 0));
  CHECK(is_pending(copies, 16));
  copies.wait(0, 5);  // a weaker wait takes nothing back
  CHECK(!is_pending(copies, 0));
}

TEST("a thread waits for its own copies only") {
  PendingCopies copies;
  copies.start(kShared, 0, 4, 0, 0);
  copies.start(kShared, 4, 4, 1, 0);
  copies.commit(0);
  copies.commit(1);
  copies.wait(1, 0);
  CHECK(is_pending(copies, 0));
  CHECK(!is_pending(copies, 4));
}

TEST("a new block has no pending copies") {
  PendingCopies copies;
  copies.start(kShared, 0, 4, 0, 0);
  copies.clear();
  CHECK(!is_pending(copies, 0));
}

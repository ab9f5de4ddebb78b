#include "check.hpp"
#include "sim/block_clocks.hpp"

namespace {

using namespace cudaopt::sim;

Stamp by(std::uint32_t warp, std::uint32_t lane, Time time) {
  return stamp::of_warp(time, 0, Strength::plain, warp) | stamp::of_lanes(lane, lane);
}

constexpr std::uint64_t kBlock = 3;

BlockClocks two_warps() {
  BlockClocks clocks;
  clocks.begin(kBlock, 2, 10);
  return clocks;
}

TEST("clocks: a thread knows what it did itself and no more") {
  const BlockClocks clocks = two_warps();
  CHECK(clocks.knows(0, 4, by(0, 4, 10), kBlock));
  CHECK(!clocks.knows(0, 5, by(0, 4, 10), kBlock));
  CHECK(!clocks.knows(1, 4, by(0, 4, 10), kBlock));
}

TEST("clocks: lanes that met know what each did before") {
  BlockClocks clocks = two_warps();
  clocks.warp_met(0, 0x0000ffffu, 11);
  CHECK(clocks.knows(0, 5, by(0, 4, 10), kBlock));
  CHECK(!clocks.knows(0, 5, by(0, 4, 11), kBlock));
  CHECK(!clocks.knows(0, 20, by(0, 4, 10), kBlock));
  CHECK(!clocks.knows(1, 5, by(0, 4, 10), kBlock));
}

TEST("clocks: a barrier orders the warps that waited") {
  BlockClocks clocks = two_warps();
  clocks.barrier_released(0, 0b11, 0, 11);
  CHECK(clocks.knows(1, 0, by(0, 4, 10), kBlock));
  CHECK(!clocks.knows(1, 0, by(0, 4, 11), kBlock));
  CHECK_EQUAL(11u, clocks.floor(1));
}

TEST("clocks: a warp that arrives is known but learns nothing") {
  BlockClocks clocks = two_warps();
  clocks.arrived(0, 1, 11);
  clocks.barrier_released(1, 0b10, 0, 12);
  CHECK(clocks.knows(1, 0, by(0, 0, 10), kBlock));
  CHECK(!clocks.knows(1, 0, by(0, 0, 11), kBlock));
  CHECK(!clocks.knows(0, 0, by(1, 0, 10), kBlock));
}

TEST("clocks: a release without a fence tells nothing") {
  BlockClocks clocks = two_warps();
  SyncLocation flag;
  clocks.release(0, flag);
  clocks.acquire(1, 0, flag);
  CHECK(!clocks.knows(1, 0, by(0, 0, 10), kBlock));
}

TEST("clocks: a release tells what came before its fence") {
  BlockClocks clocks = two_warps();
  SyncLocation flag;
  clocks.fence(0, Scope::block, 11);
  clocks.release(0, flag);
  clocks.acquire(1, 0, flag);
  CHECK(clocks.knows(1, 0, by(0, 0, 10), kBlock));
  CHECK(!clocks.knows(1, 0, by(0, 0, 11), kBlock));
}

TEST("clocks: only fences of the device reach other blocks") {
  for (const Scope scope : {Scope::block, Scope::device}) {
    BlockClocks clocks = two_warps(), other;
    other.begin(7, 1, 20);
    SyncLocation flag;
    clocks.fence(0, scope, 11);
    clocks.release(0, flag);
    other.acquire(0, 0, flag);
    CHECK_EQUAL(scope == Scope::device, other.knows(0, 0, by(0, 0, 10), kBlock));
  }
}

TEST("clocks: a fence of one thread covers what a barrier told it") {
  BlockClocks clocks = two_warps(), other;
  other.begin(7, 1, 20);
  clocks.barrier_released(0, 0b11, 0, 11);
  clocks.fence(0, Scope::device, 12);
  SyncLocation flag;
  clocks.release(0, flag);
  other.acquire(0, 0, flag);
  CHECK(other.knows(0, 0, by(1, 9, 10), kBlock));
  CHECK(!other.knows(0, 0, by(1, 9, 11), kBlock));
}

TEST("clocks: a lane learns from another of its warp through a lock") {
  BlockClocks clocks = two_warps();
  SyncLocation lock;
  clocks.fence(0, Scope::device, 11);
  clocks.release(0, lock);
  clocks.acquire(0, 7, lock);
  CHECK(clocks.knows(0, 7, by(0, 3, 10), kBlock));
  CHECK(!clocks.knows(0, 8, by(0, 3, 10), kBlock));
}

}  // namespace

// Whose turn it is among the paths of a diverged warp.
#include <memory>

#include "check.hpp"
#include "sim/paths.hpp"

using namespace cudaopt::sim;

namespace {

// Lanes 0-31 part at a branch that meets at 50: 0-15 run at 10, of which 8-15 wait at 20 for their
// turn and 4-7 stand at the inner meeting point 30; 16-31 wait for their turn at 40.
std::unique_ptr<Warp> parted_warp() {
  auto warp = std::make_unique<Warp>();
  warp->alive = kAllLanes;
  push_path(*warp, {51, kAllLanes, -1});
  push_path(*warp, {40, 0xffff0000u, 50});
  push_path(*warp, {31, 0xffffu, 50});
  push_path(*warp, {20, 0xff00u, 30});
  warp->active = 0xfu;
  warp->pc = 10;
  warp->reconverge = 30;
  return warp;
}

}  // namespace

TEST("lanes have arrived at a join once no path above holds them") {
  const auto warp = parted_warp();
  CHECK_EQUAL(0u, arrived_lanes(*warp, 0));
  CHECK_EQUAL(0xf0u, arrived_lanes(*warp, 2));
  CHECK_EQUAL(0xff00u, arrived_lanes(*warp, 3));
}

TEST("paths that can run take turns, the one that waited longest first") {
  const auto warp = parted_warp();
  for (const std::int32_t pc : {40, 20, 10, 40, 20, 10}) {
    CHECK(yield(*warp));
    CHECK_EQUAL(pc, warp->pc);
  }
  CHECK_EQUAL(0xfu, warp->active);
  CHECK_EQUAL(30, warp->reconverge);
}

TEST("when the others only wait where lanes meet, these go on alone") {
  const auto warp = parted_warp();
  warp->alive = 0xffu;  // the other paths have exited
  CHECK(yield(*warp));
  CHECK_EQUAL(31, warp->pc);
  CHECK_EQUAL(0xf0u, warp->active);
  CHECK_EQUAL(50, warp->reconverge);
  CHECK(yield(*warp));
  CHECK_EQUAL(10, warp->pc);
}

TEST("lanes that wait at a barrier have no turn") {
  const auto warp = parted_warp();
  warp->splits[1].wait = Wait::barrier;
  warp->splits[3].wait = Wait::members;
  warp->alive = 0xffffff0fu;
  CHECK(!yield(*warp));
  CHECK_EQUAL(10, warp->pc);
}

TEST("splits of lanes that exited make room") {
  const auto warp = parted_warp();
  warp->alive = 0xffu;
  for (std::size_t i = 0; i < 2 * kMaxSplits; ++i) push_path(*warp, {60, 0xff00u, -1});
  CHECK_EQUAL(kMaxSplits, warp->splits.size());
  CHECK_EQUAL(0xf0u, arrived_lanes(*warp, 1));
}

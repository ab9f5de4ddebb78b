#include "check.hpp"
#include "sim/access_plan.hpp"

namespace {

using namespace cudaopt::sim;

AddressPattern pattern_of(std::uint32_t mask, std::int32_t (*delta)(int)) {
  AddressPattern pattern;
  pattern.mask = mask;
  pattern.kind = PatternKind::general;
  for (int i = 0; i < kLanes; ++i) pattern.delta[i] = delta(i);
  pattern.expected = pattern.delta;
  return pattern;
}

TEST("plan: a plan is made when addresses repeat") {
  const AddressPattern pattern = pattern_of(kAllLanes, [](int lane) { return lane * 8; });
  AccessPlan plan;
  CHECK(!plan.fits(pattern, 4, 2));
  CHECK(plan.fits(pattern, 4, 2));
  CHECK_EQUAL(std::size_t{32}, plan.runs.size());
  CHECK_EQUAL(std::int64_t{2}, plan.runs[1].first);
}

TEST("plan: neighbouring cells are one run") {
  const AddressPattern pattern = pattern_of(kAllLanes, [](int lane) { return (31 - lane) * 16; });
  AccessPlan plan;
  static_cast<void>(plan.fits(pattern, 16, 2));
  CHECK(plan.fits(pattern, 16, 2));
  CHECK_EQUAL(std::size_t{1}, plan.runs.size());
  CHECK_EQUAL(128u, plan.runs[0].count);
  CHECK_EQUAL(stamp::of_lanes(31, 31), plan.lanes[3]);
  CHECK(!plan.shared_by_lanes);
}

TEST("plan: a cell of several lanes names two of them") {
  const AddressPattern pattern = pattern_of(0b1110, [](int) { return 0; });
  AccessPlan plan;
  static_cast<void>(plan.fits(pattern, 4, 2));
  CHECK(plan.fits(pattern, 4, 2));
  CHECK_EQUAL(1u, plan.runs[0].count);
  CHECK_EQUAL(stamp::of_lanes(1, 3), plan.lanes[0]);
  CHECK(plan.shared_by_lanes);
}

TEST("plan: another mask or width is another plan") {
  AddressPattern pattern = pattern_of(kAllLanes, [](int lane) { return lane * 4; });
  AccessPlan plan;
  static_cast<void>(plan.fits(pattern, 4, 2));
  CHECK(plan.fits(pattern, 4, 2));
  CHECK(!plan.fits(pattern, 4, 1));
  CHECK(plan.fits(pattern, 4, 1));
  CHECK_EQUAL(64u, plan.runs[0].count);
  pattern.mask = 1;
  CHECK(!plan.fits(pattern, 4, 1));
}

}  // namespace

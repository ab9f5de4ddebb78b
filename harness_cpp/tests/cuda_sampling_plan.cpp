// Which contents, how many samples, how many launches in a graph: as PROTOCOL.md says under
// "measure".
#include <map>

#include "check.hpp"
#include "cuda/sampling_plan.hpp"

using namespace cudaopt;
using namespace cudaopt::cuda;

namespace {

constexpr std::uint64_t kMib = 1 << 20;

// An H200 with nothing else on it.
BatchNeeds h200(std::uint64_t footprint_bytes) {
  return {32, 60 * kMib, footprint_bytes, footprint_bytes + 512, 140'000 * kMib};
}

MeasureSpec spec_of(int samples, double relative_error, int max_samples) {
  MeasureSpec how;
  how.samples = samples;
  how.relative_error = relative_error;
  how.max_samples = max_samples;
  return how;
}

struct PlanRow {
  double launch_ns;
  std::uint64_t footprint_bytes;
  int launches, copies;
  bool leaves_l2;
};

constexpr PlanRow kPlans[] = {
    {1'000, 0, 200, 1, true},             // no buffers
    {1'000, 12 * 1024, 256, 128, false},  // tiny ones: the most copies, still in the L2
    {1'000, 4 * kMib, 228, 76, true},     // ceil(300 / 4) + 1 copies, 200 launches made even
    {3'400, 12 * kMib, 78, 26, true},     // 59 launches made even
    {3'000, kMib, 67, 67, false},         // no more copies than launches
    {199'000, 600 * kMib, 2, 2, true},    // larger than 5 times the L2
    {200'000, 600 * kMib, 1, 1, true},    // as long as a batch
    {2e6, 48 * kMib, 1, 1, false},        // longer than a batch
    {100, 12 * 1024, 1000, 128, false},   // 1000 is no multiple of 128, 1024 too many
    {0, 600 * kMib, 1000, 2, true},       // no measurable time
};

}  // namespace

TEST("two launches of three have their own contents, the third one of the others in turn") {
  const std::vector<int> others = {4, 7};
  const int expected[] = {0, 0, 4, 0, 0, 7, 0, 0, 4, 0, 0, 7};
  for (int launch = 0; launch < 12; ++launch) {
    CHECK_EQUAL(expected[launch], draw_of(launch, others).content);
    CHECK_EQUAL(launch % 2 == 1, draw_of(launch, others).shifted);
    CHECK_EQUAL(0, draw_of(launch, {}).content);
  }
}

TEST("launches take turns over places, as far as they fit an eighth of the free memory") {
  struct Row {
    std::uint64_t slab_bytes, free_bytes;
    int places;
  };
  constexpr Row kRows[] = {{0, 0, 1},         {100, 100 * 256, 32}, {100, 100 * 256 - 1, 31},
                           {100, 100 * 8, 1}, {100, 1, 1},          {100, 1u << 30, 32}};
  for (const Row& row : kRows) CHECK_EQUAL(row.places, place_count(row.slab_bytes, row.free_bytes));
  for (int launch = 0; launch < 12; ++launch) CHECK_EQUAL(launch / 2, draw_of(launch, {1}).place);
}

TEST("both the shifted and the other launches see contents that differ") {
  std::map<bool, std::map<int, int>> seen;
  for (int launch = 0; launch < 60; ++launch) {
    const Draw draw = draw_of(launch, {1});
    ++seen[draw.shifted][draw.content];
  }
  CHECK_EQUAL(20, seen[false][0]);
  CHECK_EQUAL(10, seen[false][1]);
  CHECK_EQUAL(20, seen[true][0]);
  CHECK_EQUAL(10, seen[true][1]);
}

TEST("without a relative error, exactly the samples asked for are enough") {
  const MeasureSpec how = spec_of(3, 0, 10);
  CHECK(!is_enough({}, how));
  CHECK(!is_enough({1, 1}, how));
  CHECK(is_enough({1, 100, 1000}, how));
}

TEST(
    "with a relative error, samples go on until the median is that certain, or there are too "
    "many") {
  const MeasureSpec how = spec_of(3, 0.01, 5);
  CHECK(!is_enough({100, 100}, how));
  CHECK(is_enough({100, 100, 100}, how));
  CHECK(!is_enough({100, 150, 200}, how));
  CHECK(!is_enough({100, 150, 200, 250}, how));
  CHECK(is_enough({100, 150, 200, 250, 300}, how));
}

TEST("blocks have 20 samples, and the last one what is missing") {
  CHECK_EQUAL(20, next_block_samples(0, spec_of(100, 0, 10000)));
  CHECK_EQUAL(10, next_block_samples(40, spec_of(50, 0, 10000)));
  CHECK_EQUAL(20, next_block_samples(100, spec_of(100, 0.001, 10000)));
  CHECK_EQUAL(5, next_block_samples(100, spec_of(100, 0.001, 105)));
  CHECK_EQUAL(1, next_block_samples(0, spec_of(1, 0, 1)));
}

TEST("launches and copies of a batch are those of the table") {
  for (const PlanRow& row : kPlans) {
    const BatchNeeds needs = h200(row.footprint_bytes);
    const BatchPlan plan = plan_batch(row.launch_ns, needs);
    CHECK_EQUAL(row.launches, plan.launches);
    CHECK_EQUAL(row.copies, plan.copies);
    CHECK_EQUAL(row.leaves_l2, leaves_l2(plan, needs));
  }
}

TEST("a batch takes a thousand ticks where they are long") {
  BatchNeeds needs = h200(0);
  needs.tick_ns = 500;
  CHECK_EQUAL(500, plan_batch(1000, needs).launches);
}

TEST("copies take a fifth of the free memory at most, and none may fit") {
  BatchNeeds needs = h200(4 * kMib);
  needs.free_bytes = 100 * needs.copy_bytes;
  CHECK_EQUAL(20, plan_batch(1000, needs).copies);
  CHECK_EQUAL(200, plan_batch(1000, needs).launches);
  needs.free_bytes = 4 * needs.copy_bytes;
  CHECK_EQUAL(0, plan_batch(1000, needs).copies);
}

TEST("arms are timed as given and reversed in turn") {
  CHECK((arm_order(0, 3) == std::vector<std::size_t>{0, 1, 2}));
  CHECK((arm_order(1, 3) == std::vector<std::size_t>{2, 1, 0}));
  CHECK((arm_order(2, 3) == std::vector<std::size_t>{0, 1, 2}));
}

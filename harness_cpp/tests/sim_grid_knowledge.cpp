#include "check.hpp"
#include "sim/grid_knowledge.hpp"

namespace {

using namespace cudaopt::sim;

Until until(Time first, Time second = 0) {
  Until times{};
  times[0] = first;
  times[1] = second;
  return times;
}

TEST("knowledge: nothing is known of a block nobody told of") {
  GridKnowledge known;
  CHECK(known.empty());
  known.join(5, until(7));
  CHECK(known.of(4) == nullptr);
  CHECK(known.of(5 + 1024) == nullptr);
  CHECK_EQUAL(7u, (*known.of(5))[0]);
}

TEST("knowledge: joining keeps the later of two times for each warp") {
  GridKnowledge a, b;
  a.join(1, until(5, 9));
  b.join(1, until(8, 2));
  b.join(100000, until(1));
  a.join(b);
  CHECK_EQUAL(8u, (*a.of(1))[0]);
  CHECK_EQUAL(9u, (*a.of(1))[1]);
  CHECK_EQUAL(1u, (*a.of(100000))[0]);
}

TEST("knowledge: a copy does not see what is learnt later") {
  GridKnowledge a;
  a.join(1, until(5));
  const GridKnowledge before = a;
  a.join(1, until(6));
  a.join(2, until(1));
  CHECK_EQUAL(5u, (*before.of(1))[0]);
  CHECK(before.of(2) == nullptr);
}

TEST("knowledge: ten thousand blocks may learn of all before them") {
  GridKnowledge location;
  for (std::uint64_t block = 0; block < 10000; ++block) {
    GridKnowledge known;
    known.join(location);
    known.join(block, until(static_cast<Time>(block + 1)));
    location.join(known);
  }
  for (std::uint64_t block = 0; block < 10000; ++block)
    CHECK_EQUAL(static_cast<Time>(block + 1), (*location.of(block))[0]);
}

}  // namespace

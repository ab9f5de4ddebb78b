// When values arrive: data flow inside a basic block, order across blocks.
#include "check.hpp"
#include "sim/scoreboard.hpp"

using namespace cudaopt::sim;
using Kind = TimedOp::Kind;

namespace {

TimedOp op(Kind kind, std::int32_t written, std::int32_t read) {
  TimedOp timed;
  timed.kind = kind;
  timed.written[0] = written;
  timed.read[0] = read;
  return timed;
}

// Issues `timed` with `latency` and returns when it started.
std::uint64_t issue(Scoreboard& scoreboard, const TimedOp& timed, std::uint64_t latency) {
  const Arrival start = scoreboard.start(timed);
  Arrival arrival = start;
  arrival.cycles += latency;
  scoreboard.issue(timed, start, arrival);
  return start.cycles;
}

}  // namespace

TEST("scoreboard: an instruction waits for the registers it reads") {
  Scoreboard scoreboard(4);
  CHECK_EQUAL(0u, issue(scoreboard, op(Kind::load, 0, -1), 100));
  CHECK_EQUAL(100u, issue(scoreboard, op(Kind::compute, 1, 0), 4));
  CHECK_EQUAL(104u, issue(scoreboard, op(Kind::compute, 2, 1), 4));
}

TEST("scoreboard: independent loads of a block overlap, though a use stands between them") {
  Scoreboard scoreboard(4);
  issue(scoreboard, op(Kind::load, 0, -1), 100);
  issue(scoreboard, op(Kind::compute, 1, 0), 4);
  CHECK_EQUAL(2u, issue(scoreboard, op(Kind::load, 2, -1), 100));
  CHECK_EQUAL(102u, issue(scoreboard, op(Kind::compute, 3, 2), 4));
}

TEST("scoreboard: the next block starts after the last issue of this one") {
  Scoreboard scoreboard(4);
  issue(scoreboard, op(Kind::load, 0, -1), 100);
  issue(scoreboard, op(Kind::compute, 1, 0), 4);
  issue(scoreboard, op(Kind::boundary, -1, -1), 4);
  CHECK_EQUAL(100u, issue(scoreboard, op(Kind::load, 2, -1), 100));
}

TEST("scoreboard: a load waits for stores before it unless it may be hoisted") {
  Scoreboard scoreboard(4);
  issue(scoreboard, op(Kind::load, 0, -1), 100);
  issue(scoreboard, op(Kind::store, -1, 0), 0);
  TimedOp hoisted = op(Kind::load, 1, -1);
  hoisted.any_order = true;
  CHECK_EQUAL(2u, issue(scoreboard, hoisted, 100));
  CHECK_EQUAL(100u, issue(scoreboard, op(Kind::load, 2, -1), 100));
}

TEST("scoreboard: misses count along the chain that decides the time") {
  Scoreboard scoreboard(4);
  const TimedOp load = op(Kind::load, 0, -1);
  Arrival arrival = scoreboard.start(load);
  arrival.cycles += 500;
  ++arrival.first_misses;
  scoreboard.issue(load, Arrival{}, arrival);
  issue(scoreboard, op(Kind::compute, 1, 0), 4);
  CHECK_EQUAL(1u, scoreboard.latest().first_misses);
  CHECK_EQUAL(500u, scoreboard.latest().cycles);
}

TEST("scoreboard: waiting moves everything later, never earlier") {
  Scoreboard scoreboard(1);
  scoreboard.wait_until({300, 0, 0});
  CHECK_EQUAL(300u, issue(scoreboard, op(Kind::compute, 0, -1), 4));
  scoreboard.wait_until({10, 0, 0});
  CHECK(scoreboard.latest().cycles >= 300);
}

TEST("scoreboard: stores to shared memory do not hold back loads from global memory") {
  Scoreboard scoreboard(4);
  issue(scoreboard, op(Kind::load, 0, -1), 100);
  TimedOp store = op(Kind::store, -1, 0);
  store.space = cudaopt::ptx::Space::shared;
  issue(scoreboard, store, 0);
  TimedOp global = op(Kind::load, 1, -1);
  global.space = cudaopt::ptx::Space::global;
  CHECK_EQUAL(2u, issue(scoreboard, global, 100));
  CHECK_EQUAL(100u, issue(scoreboard, op(Kind::load, 2, -1), 100));
}

namespace {

TimedOp copy(CopyStep step, std::uint16_t pending = 0) {
  TimedOp timed = op(step == CopyStep::start ? Kind::load : Kind::compute, -1, -1);
  timed.any_order = true;
  timed.copy = step;
  timed.pending_groups = pending;
  return timed;
}

}  // namespace

TEST("scoreboard: nothing waits for an asynchronous copy but a wait for its group") {
  Scoreboard scoreboard(4);
  issue(scoreboard, copy(CopyStep::start), 500);
  issue(scoreboard, copy(CopyStep::commit), 1);
  issue(scoreboard, copy(CopyStep::start), 900);
  issue(scoreboard, copy(CopyStep::commit), 1);
  CHECK_EQUAL(4u, issue(scoreboard, op(Kind::compute, 0, -1), 4));
  issue(scoreboard, copy(CopyStep::wait_group, 1), 1);
  CHECK_EQUAL(500u, issue(scoreboard, op(Kind::compute, 0, -1), 4));
  issue(scoreboard, copy(CopyStep::wait_group, 0), 1);
  CHECK_EQUAL(902u, issue(scoreboard, op(Kind::compute, 0, -1), 4));
}

TEST("scoreboard: a wait for all copies includes those of the open group") {
  Scoreboard scoreboard(4);
  issue(scoreboard, copy(CopyStep::start), 500);
  issue(scoreboard, copy(CopyStep::wait_group, 0), 1);
  CHECK_EQUAL(2u, issue(scoreboard, op(Kind::compute, 0, -1), 4));
  issue(scoreboard, copy(CopyStep::wait_all), 1);
  CHECK_EQUAL(500u, issue(scoreboard, op(Kind::compute, 0, -1), 4));
}

// The orders of blocks and warps.
#include <algorithm>
#include <set>

#include "sim/turns.hpp"
#include "sim_kernel.hpp"

using namespace sim_test;

namespace {

const Order kForward{}, kReverse{Order::Kind::reverse, 0};

Order at_random(std::uint64_t seed) { return {Order::Kind::random, seed}; }

std::vector<std::uint64_t> blocks(const Order& order, std::uint64_t count, std::uint64_t window) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < count; ++i) all.push_back(sim::block_at(order, count, window, i));
  return all;
}

// Block b, warp w writes the number of those before it to y[2 * b + w].
Words arrivals(const Order& order, unsigned threads) {
  SimOptions options;
  options.threads = threads;
  Kernel kernel(2,
                "and.b32 %r1, %t, 31;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 ret;\nshr.u32 %r2, %t, 5;\n"
                "mad.lo.u32 %r2, %b, 2, %r2;\natom.global.add.u32 %r3, [%x1], 1;\n"
                "mul.wide.u32 %rd1, %r2, 4;\nadd.s64 %rd1, %rd1, %x0;\nst.global.u32 [%rd1], %r3;",
                "", options);
  kernel.buffer("y", Words(40)).buffer("count", Words(1));
  LaunchSpec spec = kernel.spec(64, 20);
  spec.order = order;
  (void)kernel.device().launch(spec);
  return kernel.read("y");
}

}  // namespace

TEST("blocks start forward, backward, or in an order that a seed decides") {
  CHECK((std::vector<std::uint64_t>{0, 1, 2, 3, 4}) == blocks(kForward, 5, 100));
  CHECK((std::vector<std::uint64_t>{4, 3, 2, 1, 0}) == blocks(kReverse, 5, 100));
  CHECK(blocks(at_random(1), 50, 100) != blocks(at_random(2), 50, 100));
  CHECK(blocks(at_random(1), 50, 100) == blocks(at_random(1), 50, 100));
}

TEST("every block starts once, and none before all below the window of its own") {
  for (const Order& order : {kForward, kReverse, at_random(7)}) {
    for (const std::uint64_t count : {1, 2, 17, 1000}) {
      const std::vector<std::uint64_t> order_of_start = blocks(order, count, 17);
      CHECK_EQUAL(count,
                  (std::set<std::uint64_t>(order_of_start.begin(), order_of_start.end()).size()));
      for (std::uint64_t i = 0; i < count; ++i) CHECK_EQUAL(i / 17, order_of_start[i] / 17);
    }
  }
}

TEST("warps have their turns in the order asked for") {
  CHECK((std::vector<std::uint32_t>{0, 1, 2}) == sim::Turns(kForward, 3).next_round());
  CHECK((std::vector<std::uint32_t>{2, 1, 0}) == sim::Turns(kReverse, 3).next_round());
  std::set<std::vector<std::uint32_t>> seen;
  sim::Turns random(at_random(3), 3);
  random.begin(0);
  for (int i = 0; i < 100; ++i) seen.insert(random.next_round());
  CHECK_EQUAL(6u, seen.size());
}

TEST("turns are as long as a slice, or of any length at random") {
  sim::Turns forward(kForward, 1), random(at_random(3), 1);
  random.begin(5);
  std::set<std::uint32_t> lengths;
  for (int i = 0; i < 1000; ++i) {
    CHECK_EQUAL(sim::kSlice, forward.slice());
    CHECK(!forward.yields());
    lengths.insert(random.slice());
  }
  CHECK_EQUAL(1u, *lengths.begin());
  CHECK(*lengths.rbegin() > 128 && *lengths.rbegin() <= sim::kSlice);
}

TEST("a launch has its blocks and warps in the order asked for, on any number of threads") {
  for (const unsigned threads : {1u, 3u}) {
    CHECK_WORDS(counting(40), arrivals(kForward, threads));
    Words backward = counting(40);
    std::reverse(backward.begin(), backward.end());
    CHECK_WORDS(backward, arrivals(kReverse, threads));
    CHECK_WORDS(arrivals(at_random(5), 1), arrivals(at_random(5), threads));
  }
  CHECK(arrivals(at_random(5), 1) != arrivals(at_random(6), 1));
}

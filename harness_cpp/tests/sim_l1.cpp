// The L1 cache: hits by sector, replacement by age.
#include "check.hpp"
#include "sim/l1.hpp"

using cudaopt::sim::L1Cache;

TEST("l1: a sector hits after its first access, its line's other sectors do not") {
  L1Cache cache(64 * 1024);
  CHECK(!cache.access(0x1000));
  CHECK(cache.access(0x101f));
  CHECK(!cache.access(0x1020));
  CHECK(cache.access(0x1020));
}

TEST("l1: the least recently used line of a set leaves first") {
  L1Cache cache(512);  // one set of four ways
  for (std::uint64_t line = 0; line < 4; ++line) CHECK(!cache.access(line * 128));
  CHECK(cache.access(0));
  CHECK(!cache.access(4 * 128));  // displaces line 1
  CHECK(cache.access(0));
  CHECK(!cache.access(1 * 128));
}

TEST("l1: half of its size in strided lines stays, four times its size does not") {
  L1Cache cache(64 * 1024);
  const auto pass = [&](std::uint64_t lines) {
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < lines; ++i) hits += cache.access(i * 8192) ? 1u : 0u;
    return hits;
  };
  (void)pass(256);
  CHECK(pass(256) > 200);
  cache.reset();
  (void)pass(2048);
  CHECK(pass(2048) < 200);
}

TEST("l1: reset forgets everything, and a cache of no bytes still has one set") {
  L1Cache cache(0);
  CHECK(!cache.access(64));
  CHECK(cache.access(64));
  cache.reset();
  CHECK(!cache.access(64));
}

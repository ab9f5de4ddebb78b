// Distinct sectors of a block: first touches, DRAM units, partial writes.
#include "check.hpp"
#include "sim/memory.hpp"
#include "sim/touched.hpp"

using cudaopt::sim::kGlobalStride;
using cudaopt::sim::TouchedSectors;

namespace {

constexpr std::uint64_t kFirst = kGlobalStride / 32, kSecond = 2 * kGlobalStride / 32;

}  // namespace

TEST("touched: a sector counts once, however often and in whatever way it is touched") {
  TouchedSectors touched;
  CHECK(touched.read(kFirst));
  CHECK(!touched.read(kFirst));
  CHECK(!touched.write(kFirst, 0xf));
  const auto arrays = touched.summary();
  CHECK_EQUAL(1u, arrays.size());
  CHECK_EQUAL(kGlobalStride, arrays[0].base);
  CHECK_EQUAL(1u, arrays[0].read_sectors);
  CHECK_EQUAL(1u, arrays[0].written_sectors);
}

TEST("touched: DRAM moves 64 bytes, so neighbouring sectors share a unit") {
  TouchedSectors touched;
  for (const std::uint64_t sector : {5u, 0u, 1u, 4u, 8u}) touched.read(kFirst + sector);
  CHECK_EQUAL(5u, touched.summary()[0].read_sectors);
  CHECK_EQUAL(3u, touched.summary()[0].read_units);
}

TEST("touched: a sector written piece by piece needs no fill, one left partial does") {
  TouchedSectors touched;
  touched.write(kSecond, 0x0000ffff);
  touched.write(kSecond, 0xffff0000);
  touched.write(kSecond + 2, 0xf);
  const auto arrays = touched.summary();
  CHECK_EQUAL(2u, arrays[0].written_units);
  CHECK_EQUAL(1u, arrays[0].filled_units);
}

TEST("touched: a sector that was read anyway is not filled again") {
  TouchedSectors touched;
  touched.read(kFirst);
  touched.write(kFirst, 0xf);
  CHECK_EQUAL(0u, touched.summary()[0].filled_units);
}

TEST("touched: many sectors in two arrays come out in order of address") {
  TouchedSectors touched;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    touched.read(kSecond + i * 256);
    touched.write(kFirst + i, 0xffffffffu);
  }
  const auto arrays = touched.summary();
  CHECK_EQUAL(2u, arrays.size());
  CHECK_EQUAL(5000u, arrays[0].written_sectors);
  CHECK_EQUAL(2500u, arrays[0].written_units);
  CHECK_EQUAL(5000u, arrays[1].read_units);
}

#include "check.hpp"
#include "sim/sector_set.hpp"

namespace {

using cudaopt::sim::SectorSet;

TEST("sectors: sectors count once and whole") {
  SectorSet sectors(0, 4096);
  sectors.touch(4, 4);
  sectors.touch(8, 4);
  CHECK_EQUAL(std::uint64_t{32}, sectors.bytes());
  sectors.touch(30, 4);
  CHECK_EQUAL(std::uint64_t{64}, sectors.bytes());
}

TEST("sectors: sectors lie at multiples of their size wherever the array begins") {
  SectorSet sectors(16, 64);
  sectors.touch(0, 16);
  CHECK_EQUAL(std::uint64_t{32}, sectors.bytes());
  sectors.touch(12, 8);
  CHECK_EQUAL(std::uint64_t{64}, sectors.bytes());
  sectors.touch(60, 4);
  CHECK_EQUAL(std::uint64_t{96}, sectors.bytes());
}

}  // namespace

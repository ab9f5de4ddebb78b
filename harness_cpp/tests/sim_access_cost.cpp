// Sectors and wavefronts of address lists made by hand.
#include <array>

#include "check.hpp"
#include "sim/access_cost.hpp"

using namespace cudaopt::sim;

namespace {

using Addresses = std::array<std::uint64_t, 32>;

Addresses spaced(std::uint64_t first, std::uint64_t step) {
  Addresses addresses{};
  for (std::uint64_t i = 0; i < 32; ++i) addresses[i] = first + i * step;
  return addresses;
}

constexpr std::uint32_t kAll = 0xffffffffu;

}  // namespace

TEST("sectors are counted once, in any order of lanes") {
  CHECK_EQUAL(4u, count_sectors(spaced(0, 4).data(), kAll, 4));
  CHECK_EQUAL(5u, count_sectors(spaced(16, 4).data(), kAll, 4));
  CHECK_EQUAL(16u, count_sectors(spaced(0, 16).data(), kAll, 16));
  CHECK_EQUAL(1u, count_sectors(spaced(0, 0).data(), kAll, 4));
  CHECK_EQUAL(2u, count_sectors(spaced(0, 4).data(), 0x0000ffffu, 4));
  Addresses shuffled = spaced(0, 4);
  for (std::size_t i = 0; i < 32; ++i) shuffled[i] = i * 13 % 32 * 4;
  CHECK_EQUAL(4u, count_sectors(shuffled.data(), kAll, 4));
}

TEST("lanes that name one word share its wavefront") {
  Addresses pairs = spaced(0, 0);
  for (std::size_t i = 0; i < 32; ++i) pairs[i] = i / 2 * 4;
  CHECK_EQUAL(1u, count_wavefronts(pairs.data(), kAll, 4));
  CHECK_EQUAL(1u, count_wavefronts(spaced(64, 1).data(), kAll, 1));
}

TEST("words of one bank take turns") {
  CHECK_EQUAL(32u, count_wavefronts(spaced(0, 128).data(), kAll, 4));
  CHECK_EQUAL(16u, count_wavefronts(spaced(0, 128).data(), 0xffffu, 4));
  CHECK_EQUAL(4u, count_wavefronts(spaced(0, 16).data(), kAll, 4));
}

TEST("wide accesses go in phases") {
  CHECK_EQUAL(2u, count_wavefronts(spaced(0, 8).data(), kAll, 8));
  CHECK_EQUAL(4u, count_wavefronts(spaced(0, 16).data(), kAll, 16));
  CHECK_EQUAL(8u, count_wavefronts(spaced(0, 32).data(), kAll, 16));
  CHECK_EQUAL(1u, count_wavefronts(spaced(0, 16).data(), 0xffu, 16));
}

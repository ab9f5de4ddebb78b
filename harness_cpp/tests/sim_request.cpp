// One warp's request: sectors, lines, passes, distinct addresses.
#include "check.hpp"
#include "sim/request.hpp"

using namespace cudaopt::sim;

namespace {

template <class AddressOf>
LaneAddresses request(std::uint32_t bytes, AddressOf address_of, std::uint32_t mask = kAllLanes) {
  LaneAddresses lanes;
  lanes.mask = mask;
  lanes.bytes = bytes;
  for (std::size_t lane = 0; lane < kLanes; ++lane) lanes.address[lane] = address_of(lane);
  return lanes;
}

std::size_t sectors(const LaneAddresses& lanes) {
  const SectorList list(lanes);
  return static_cast<std::size_t>(list.end() - list.begin());
}

}  // namespace

TEST("request: sectors and lines of usual patterns") {
  const auto row = request(4, [](std::size_t lane) { return 4096 + 4 * lane; });
  CHECK_EQUAL(4u, sectors(row));
  CHECK_EQUAL(1u, SectorList(row).lines());
  const auto wide = request(16, [](std::size_t lane) { return 4096 + 16 * lane; });
  CHECK_EQUAL(16u, sectors(wide));
  CHECK_EQUAL(4u, SectorList(wide).lines());
  const auto column = request(4, [](std::size_t lane) { return 4096 * lane; });
  CHECK_EQUAL(32u, sectors(column));
  CHECK_EQUAL(32u, SectorList(column).lines());
  const auto same = request(4, [](std::size_t) { return std::uint64_t{64}; });
  CHECK_EQUAL(1u, sectors(same));
}

TEST("request: lanes in any order give ascending sectors with all their bytes") {
  const auto backwards = request(4, [](std::size_t lane) { return 4096 + 4 * (31 - lane); });
  const auto shuffled = request(4, [](std::size_t lane) { return 4096 + 4 * (lane * 9 % 32); });
  for (const LaneAddresses& lanes : {backwards, shuffled}) {
    CHECK_EQUAL(4u, sectors(lanes));
    std::uint64_t expected = 128;
    for (const SectorBytes& one : SectorList(lanes)) {
      CHECK_EQUAL(expected++, one.sector);
      CHECK_EQUAL(0xffffffffu, one.byte_mask);
    }
  }
}

TEST("request: lanes outside the mask touch nothing") {
  const auto two = request(4, [](std::size_t lane) { return 4096 * lane; }, 0x3);
  CHECK_EQUAL(2u, sectors(two));
  CHECK_EQUAL(2u, distinct_addresses(two));
}

TEST("request: shared passes of usual patterns") {
  CHECK_EQUAL(1u, shared_passes(request(4, [](std::size_t lane) { return 4 * lane; })));
  CHECK_EQUAL(1u, shared_passes(request(4, [](std::size_t) { return std::uint64_t{8}; })));
  CHECK_EQUAL(1u, shared_passes(request(16, [](std::size_t) { return std::uint64_t{16}; })));
  CHECK_EQUAL(2u, shared_passes(request(4, [](std::size_t lane) { return 8 * lane; })));
  CHECK_EQUAL(32u, shared_passes(request(4, [](std::size_t lane) { return 128 * lane; })));
  CHECK_EQUAL(1u, shared_passes(request(4, [](std::size_t lane) { return 132 * lane; })));
  CHECK_EQUAL(4u, shared_passes(request(16, [](std::size_t lane) { return 16 * lane; })));
}

TEST("request: wide shared accesses need half the passes when lanes read the same in pairs") {
  // Sixteen lanes each for two addresses, as the left operand of a register tile.
  CHECK_EQUAL(2u, shared_passes(request(16, [](std::size_t lane) { return 16 * (lane / 16); })));
  // Sixteen addresses in a row, twice: the right operand.
  CHECK_EQUAL(4u, shared_passes(request(16, [](std::size_t lane) { return 16 * (lane % 16); })));
  CHECK_EQUAL(1u, shared_passes(request(8, [](std::size_t lane) { return 8 * (lane / 2); })));
  CHECK_EQUAL(1u, shared_passes(
                      request(8, [](std::size_t lane) { return 8 * (lane / 4 * 2 + lane % 2); })));
  CHECK_EQUAL(2u, shared_passes(request(8, [](std::size_t lane) { return 8 * lane; })));
}

TEST("request: remembered passes follow the pattern and the mask, not the base") {
  PassMemo memo;
  const auto strided = [](std::uint64_t base, std::uint64_t stride) {
    return [=](std::size_t lane) { return base + stride * lane; };
  };
  CHECK_EQUAL(2u, memo.passes(request(4, strided(0, 8))));
  CHECK_EQUAL(2u, memo.passes(request(4, strided(1028, 8))));
  CHECK_EQUAL(4u, memo.passes(request(4, strided(1028, 16))));
  CHECK_EQUAL(2u, memo.passes(request(4, strided(1028, 16), 0xffff)));
  CHECK_EQUAL(4u, memo.passes(request(4, strided(0, 16))));
}

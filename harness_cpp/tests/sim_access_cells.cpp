#include "check.hpp"
#include "sim/access_cells.hpp"

namespace {

using namespace cudaopt::sim;

TEST("cells: cells begin untouched") {
  const AccessCells cells(16, 2);
  for (std::uint64_t i = 0; i < 4; ++i) CHECK_EQUAL(Stamp{0}, cells.writes()[i]);
}

TEST("cells: smaller cells take over the stamps of larger ones") {
  AccessCells cells(16, 2);
  cells.writes()[1] = 7;
  cells.reads()[2] = 8;
  cells.other_reads()[0] = 9;
  cells.refine(1);
  CHECK_EQUAL(0, cells.shift());
  for (std::uint64_t i = 0; i < 16; ++i) {
    CHECK_EQUAL(Stamp{i / 4 == 1 ? 7 : 0}, cells.writes()[i]);
    CHECK_EQUAL(Stamp{i / 4 == 2 ? 8 : 0}, cells.reads()[i]);
    CHECK_EQUAL(Stamp{i / 4 == 0 ? 9 : 0}, cells.other_reads()[i]);
  }
}

TEST("cells: cells never grow again") {
  AccessCells cells(16, 1);
  cells.refine(4);
  CHECK_EQUAL(1, cells.shift());
}

}  // namespace

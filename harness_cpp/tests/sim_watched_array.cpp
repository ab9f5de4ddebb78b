#include "check.hpp"
#include "sim/watched_array.hpp"

namespace {

using namespace cudaopt::sim;

TEST("watched array: a variable of a function goes by its own name") {
  CHECK_EQUAL(std::string("s"), plain_variable_name("_ZZ9scan_rowsE1s"));
  CHECK_EQUAL(std::string("tile"), plain_variable_name("_ZZN2ns6kernelIfEEvPT_E4tile_0"));
  CHECK_EQUAL(std::string("plain"), plain_variable_name("plain"));
}

TEST("watched array: cells of one access count as one read") {
  UnwrittenReads reads;
  reads.add({0, 8, 0, 5});
  reads.add({4, 8, 0, 5});
  reads.add({8, 8, 0, 6});
  CHECK_EQUAL(std::size_t{2}, reads.take().size());
  CHECK_EQUAL(std::size_t{0}, reads.take().size());
}

TEST("watched array: a read that is explained is forgotten") {
  UnwrittenReads reads;
  reads.add({0, 4, 0, 5});
  reads.add({4, 4, 0, 6});
  CHECK(reads.find(0) != nullptr);
  reads.forget(0);
  CHECK(reads.find(0) == nullptr);
  CHECK_EQUAL(std::uint64_t{4}, reads.take()[0].offset);
}

}  // namespace

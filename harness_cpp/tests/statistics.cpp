// Statistics against values worked out by hand and by NumPy (percentile, default method).
#include "statistics.hpp"

#include <cmath>
#include <stdexcept>

#include "check.hpp"

using namespace cudaopt;

namespace {

struct Row {
  std::vector<double> values;
  double median, interquartile_range, smallest_step;
};

const Row kKnown[] = {
    {{5}, 5, 0, 0},
    {{1, 2}, 1.5, 0.5, 1},
    {{3, 1, 2}, 2, 1, 1},
    {{4, 1, 3, 2}, 2.5, 1.5, 1},
    {{7, 7, 7, 7}, 7, 0, 0},
    {{1, 2, 3, 4, 1000}, 3, 2, 1},
    {{96, 32, 64, 96, 128}, 96, 32, 32},
    {{1000, 1096, 1032, 1000}, 1016, 48, 32},
};

}  // namespace

TEST("median, interquartile range and smallest step equal the known values") {
  for (const Row& row : kKnown) {
    CHECK_EQUAL(row.median, median(row.values));
    CHECK_EQUAL(row.interquartile_range, interquartile_range(row.values));
    CHECK_EQUAL(row.smallest_step, smallest_step(row.values));
  }
}

TEST("statistics of no values throw") {
  CHECK_THROWS(std::invalid_argument, median({}));
  CHECK_THROWS(std::invalid_argument, interquartile_range({}));
  CHECK_THROWS(std::invalid_argument, relative_error_of_median({}));
  CHECK_THROWS(std::invalid_argument, smallest_step({}));
}

TEST("the relative error of a median follows its formula") {
  const std::vector<double> values = {4, 1, 3, 2};
  CHECK(std::abs(relative_error_of_median(values) - 1.2533 * 0.7413 * 1.5 / 2 / 2.5) < 1e-12);
}

TEST("four times the samples halve the relative error of their median") {
  std::vector<double> few, many;
  for (int i = 0; i < 401; ++i) few.push_back(1000 + i);
  for (int i = 0; i < 401; ++i) many.insert(many.end(), 4, 1000 + i);
  CHECK(std::abs(relative_error_of_median(few) / relative_error_of_median(many) - 2) < 1e-2);
}

TEST("one outlier does not change the relative error of a median, equal samples have none") {
  std::vector<double> values = {10, 11, 12, 13, 14, 15, 16, 17, 18};
  const double before = relative_error_of_median(values);
  values.back() = 1e6;
  CHECK_EQUAL(before, relative_error_of_median(values));
  CHECK_EQUAL(0.0, relative_error_of_median({8, 8, 8}));
}

TEST("the relative error of a median of zero is infinite") {
  CHECK(std::isinf(relative_error_of_median({0, 0, 1, 0})));
}

// What a list of times says. Pure: numbers in, numbers out. Every function throws
// std::invalid_argument if there are none.
#pragma once

#include <vector>

namespace cudaopt {

// The mean of the two in the middle where their number is even.
[[nodiscard]] double median(std::vector<double> values);

// Third minus first quartile, interpolated between neighbours (Hyndman and Fan's type 7).
[[nodiscard]] double interquartile_range(std::vector<double> values);

// Standard error of the median as a share of it, with the standard deviation taken from the
// interquartile range, so that a few interrupted samples do not count: 1.2533 s / sqrt(n),
// s = 0.7413 IQR. Infinite where the median is not positive.
[[nodiscard]] double relative_error_of_median(const std::vector<double>& values);

// The smallest difference between two unequal values, 0 if all are equal: the resolution of a clock
// that gave them.
[[nodiscard]] double smallest_step(std::vector<double> values);

}  // namespace cudaopt

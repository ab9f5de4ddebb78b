#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace cudaopt {
namespace {

// Of normally distributed values: sd of the median over sd / sqrt(n), sqrt(pi / 2); and sd over
// IQR.
constexpr double kMedianEfficiency = 1.2533, kSdOfIqr = 0.7413;

void sort_nonempty(std::vector<double>& values) {
  if (values.empty()) throw std::invalid_argument("statistics of no values: expected at least one");
  std::sort(values.begin(), values.end());
}

double quantile_of_sorted(const std::vector<double>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double weight = position - static_cast<double>(below);
  return sorted[below] + weight * (sorted[above] - sorted[below]);
}

}  // namespace

double median(std::vector<double> values) {
  sort_nonempty(values);
  return quantile_of_sorted(values, 0.5);
}

double interquartile_range(std::vector<double> values) {
  sort_nonempty(values);
  return quantile_of_sorted(values, 0.75) - quantile_of_sorted(values, 0.25);
}

double relative_error_of_median(const std::vector<double>& values) {
  const double centre = median(values);
  if (centre <= 0) return std::numeric_limits<double>::infinity();
  const double sd = kSdOfIqr * interquartile_range(values);
  return kMedianEfficiency * sd / std::sqrt(static_cast<double>(values.size())) / centre;
}

double smallest_step(std::vector<double> values) {
  sort_nonempty(values);
  double step = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double difference = values[i] - values[i - 1];
    if (difference > 0 && (step == 0 || difference < step)) step = difference;
  }
  return step;
}

}  // namespace cudaopt

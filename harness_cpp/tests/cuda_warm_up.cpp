#include <numeric>

#include "cuda/warm_up.hpp"
#include "made_up_gpu.hpp"

using namespace cudaopt;
using namespace made_up_gpu;

namespace {

// The numbers of the launches that warm up, in their order.
std::vector<int> warmed_up(const WarmupSpec& how) {
  const Gpu gpu;
  const cuda::Stopwatch stopwatch(gpu.context(), "a test");
  std::vector<int> launches;
  cuda::Shot nothing;
  nothing.timed = [] {};
  const int count = cuda::warm_up(stopwatch, how, [&](int launch) {
    launches.push_back(launch);
    return nothing;
  });
  CHECK_EQUAL(launches.size(), static_cast<std::size_t>(count));
  return launches;
}

std::vector<int> counting_to(std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

TEST("warming up takes the launches asked for, and at least one") {
  CHECK(warmed_up({10, 0}) == counting_to(10));
  CHECK(warmed_up({3, 0}) == counting_to(3));
  CHECK(warmed_up({0, 0}) == counting_to(1));
}

TEST("warming up goes on until its time is over") {
  const std::vector<int> launches = warmed_up({2, 5});
  CHECK(launches.size() > 2);
  CHECK(launches == counting_to(launches.size()));
}

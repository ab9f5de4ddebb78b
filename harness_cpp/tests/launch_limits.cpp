// Limits of device and kernel: what fits, and the sentence about what does not.
#include "launch_limits.hpp"

#include "check.hpp"

using namespace cudaopt;

namespace {

DeviceLimits some_limits() {
  DeviceLimits limits;
  limits.max_threads_per_block = 1024;
  limits.max_shared_bytes = 1000;
  limits.max_grid = {100, 10, 10};
  limits.max_block = {1024, 1024, 64};
  return limits;
}

LaunchSpec launch(const Dim3& grid, const Dim3& block, std::uint32_t shared_bytes = 0) {
  LaunchSpec spec;
  spec.entry = "k";
  spec.grid = grid;
  spec.block = block;
  spec.shared_bytes = shared_bytes;
  return spec;
}

std::string refusal_of(const LaunchSpec& spec, const KernelFacts& kernel = {}) {
  try {
    check_launch(spec, kernel, some_limits());
  } catch (const Fault& fault) {
    CHECK(fault.detail().kind == FaultKind::invalid_launch);
    return fault.what();
  }
  return "accepted";
}

KernelFacts at_most(std::uint64_t threads) {
  KernelFacts kernel;
  kernel.max_threads = threads;
  return kernel;
}

}  // namespace

TEST("a launch at every limit is accepted") {
  KernelFacts kernel = at_most(1024);
  kernel.static_shared_bytes = 400;
  kernel.required_block = Dim3{16, 1, 64};
  CHECK_EQUAL(std::string("accepted"), refusal_of(launch({100, 10, 10}, {16, 1, 64}, 600), kernel));
}

TEST("a launch over a limit of the device names limit and value") {
  CHECK_EQUAL(std::string("launch of 'k': grid is (0,1,1), every dimension must be at least 1"),
              refusal_of(launch({0, 1, 1}, {1, 1, 1})));
  CHECK_EQUAL(std::string("launch of 'k': grid is (1,11,1), the limit is (100,10,10)"),
              refusal_of(launch({1, 11, 1}, {1, 1, 1})));
  CHECK_EQUAL(std::string("launch of 'k': block is (1,1,65), the limit is (1024,1024,64)"),
              refusal_of(launch({1, 1, 1}, {1, 1, 65})));
  CHECK_EQUAL(std::string("launch of 'k': a block of 1056 threads, the limit is 1024"),
              refusal_of(launch({1, 1, 1}, {32, 33, 1})));
}

TEST("a launch over what the kernel allows says who sets the limit") {
  CHECK_EQUAL(std::string("launch of 'k': a block of 257 threads, __launch_bounds__ allows 256"),
              refusal_of(launch({1, 1, 1}, {257, 1, 1}), at_most(256)));
  KernelFacts kernel = at_most(640);
  kernel.max_threads_of = "the kernel's use of registers";
  CHECK_EQUAL(std::string("launch of 'k': a block of 1024 threads, the kernel's use of registers "
                          "allows 640"),
              refusal_of(launch({1, 1, 1}, {1024, 1, 1}), kernel));
}

TEST("a block that is not the required one is refused, with as many threads too") {
  KernelFacts kernel;
  kernel.required_block = Dim3{32, 2, 1};
  CHECK_EQUAL(std::string("launch of 'k': block is (64,1,1), the kernel requires exactly (32,2,1)"),
              refusal_of(launch({1, 1, 1}, {64, 1, 1}), kernel));
}

TEST("shared memory is the sum of static and dynamic, beyond 32 bits too") {
  KernelFacts kernel;
  kernel.static_shared_bytes = 400;
  CHECK_EQUAL(std::string("launch of 'k': 1001 bytes of shared memory (400 static, 601 dynamic), "
                          "the limit is 1000"),
              refusal_of(launch({1, 1, 1}, {1, 1, 1}, 601), kernel));
  CHECK(refusal_of(launch({1, 1, 1}, {1, 1, 1}, 0xffffffff), kernel) != "accepted");
}

namespace {

LaunchSpec clustered(const Dim3& grid, const Dim3& cluster) {
  LaunchSpec spec = launch(grid, {32, 1, 1});
  spec.cluster = cluster;
  return spec;
}

KernelFacts compiled_for(const Dim3& cluster) {
  KernelFacts kernel;
  kernel.compiled_cluster = cluster;
  return kernel;
}

void check_refusal(const std::string& words, const LaunchSpec& spec,
                   const KernelFacts& kernel = {}) {
  CHECK_EQUAL("launch of 'k': " + words, refusal_of(spec, kernel));
}

}  // namespace

TEST("clusters that divide the grid are accepted") {
  CHECK_EQUAL(std::string("accepted"), refusal_of(clustered({8, 4, 1}, {4, 2, 1})));
  CHECK_EQUAL(std::string("accepted"),
              refusal_of(clustered({8, 1, 1}, {2, 1, 1}), compiled_for({2, 1, 1})));
}

TEST("a cluster no launch can have names its shape and what is wrong with it") {
  check_refusal("cluster is (2,0,1), every dimension must be at least 1",
                clustered({8, 1, 1}, {2, 0, 1}));
  check_refusal("cluster is (3,3,1), which is 9 blocks, the limit is 8",
                clustered({9, 3, 1}, {3, 3, 1}));
  check_refusal("cluster is (2,1,1), which does not divide the grid (7,1,1)",
                clustered({7, 1, 1}, {2, 1, 1}));
}

TEST("a kernel compiled for clusters wants just these") {
  check_refusal(
      "cluster is (4,1,1), the kernel is compiled for clusters of (2,1,1) blocks "
      "(__cluster_dims__)",
      clustered({8, 1, 1}, {4, 1, 1}), compiled_for({2, 1, 1}));
  check_refusal(
      "the kernel is compiled for clusters of (2,1,1) blocks (__cluster_dims__), the launch asks "
      "for none. Launch it with cluster=(2,1,1)",
      launch({8, 1, 1}, {32, 1, 1}), compiled_for({2, 1, 1}));
  KernelFacts kernel;
  kernel.needs_cluster = true;
  check_refusal("the kernel is compiled for clusters, the launch asks for none",
                launch({8, 1, 1}, {32, 1, 1}), kernel);
}

TEST("a device without clusters refuses them and names its architecture") {
  DeviceLimits limits = some_limits();
  limits.name = "A100";
  limits.architecture = "sm_80";
  limits.launches_clusters = false;
  try {
    check_launch(clustered({8, 1, 1}, {2, 1, 1}), {}, limits);
  } catch (const Fault& fault) {
    CHECK_EQUAL(std::string("launch of 'k': cluster is (2,1,1), A100 (sm_80) launches no clusters; "
                            "those of compute capability 9.0 and above do"),
                std::string(fault.what()));
    return;
  }
  throw check::Failure("accepted");
}

TEST("a cooperative launch has no more blocks than are resident at once") {
  DeviceLimits limits = some_limits();
  limits.multiprocessors = 3;
  LaunchSpec spec = launch({6, 1, 1}, {32, 1, 1});
  spec.cooperative = true;
  check_resident(spec, 2, limits);
  spec.grid = {7, 1, 1};
  try {
    check_resident(spec, 2, limits);
  } catch (const Fault& fault) {
    CHECK(FaultKind::invalid_launch == fault.detail().kind);
    CHECK_EQUAL(std::string("launch of 'k': a cooperative launch of 7 blocks, 6 are resident at "
                            "once (2 on each of 3 multiprocessors)"),
                std::string(fault.what()));
    spec.cooperative = false;
    return check_resident(spec, 2, limits);
  }
  throw check::Failure("accepted");
}

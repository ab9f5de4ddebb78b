// One function per limit, in the order in which a message helps most.
#include "launch_limits.hpp"

namespace cudaopt {
namespace {

// Portable; more need the kernel's consent and a GPU that has room for them.
constexpr std::uint64_t kMostClusterBlocks = 8;

std::string text(const Dim3& size) {
  return "(" + std::to_string(size.x) + "," + std::to_string(size.y) + "," +
         std::to_string(size.z) + ")";
}

bool same(const Dim3& a, const Dim3& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

void check_extent(const LaunchSpec& spec, const char* what, const Dim3& size, const Dim3& limit) {
  if (size.x == 0 || size.y == 0 || size.z == 0) {
    refuse_launch(spec,
                  std::string(what) + " is " + text(size) + ", every dimension must be at least 1");
  }
  if (size.x > limit.x || size.y > limit.y || size.z > limit.z) {
    refuse_launch(spec, std::string(what) + " is " + text(size) + ", the limit is " + text(limit));
  }
}

void check_threads(const LaunchSpec& spec, const KernelFacts& kernel, const DeviceLimits& limits) {
  const std::uint64_t threads = spec.block.count();
  const std::string block = "a block of " + std::to_string(threads) + " threads, ";
  if (threads > limits.max_threads_per_block) {
    refuse_launch(spec, block + "the limit is " + std::to_string(limits.max_threads_per_block));
  }
  if (kernel.required_block && !same(*kernel.required_block, spec.block)) {
    refuse_launch(spec, "block is " + text(spec.block) + ", the kernel requires exactly " +
                            text(*kernel.required_block));
  }
  if (kernel.max_threads != 0 && threads > kernel.max_threads) {
    refuse_launch(spec,
                  block + kernel.max_threads_of + " allows " + std::to_string(kernel.max_threads));
  }
}

void check_shared(const LaunchSpec& spec, const KernelFacts& kernel, const DeviceLimits& limits) {
  const std::uint64_t total = kernel.static_shared_bytes + spec.shared_bytes;
  if (total <= limits.max_shared_bytes) return;
  refuse_launch(spec, std::to_string(total) + " bytes of shared memory (" +
                          std::to_string(kernel.static_shared_bytes) + " static, " +
                          std::to_string(spec.shared_bytes) + " dynamic), the limit is " +
                          std::to_string(limits.max_shared_bytes));
}

void check_cluster_is_asked_for(const LaunchSpec& spec, const KernelFacts& kernel) {
  if (kernel.compiled_cluster) {
    refuse_launch(spec, "the kernel is compiled for clusters of " + text(*kernel.compiled_cluster) +
                            " blocks (__cluster_dims__), the launch asks for none. Launch it with "
                            "cluster=" +
                            text(*kernel.compiled_cluster));
  }
  if (kernel.needs_cluster) {
    refuse_launch(spec, "the kernel is compiled for clusters, the launch asks for none");
  }
}

void check_cluster(const LaunchSpec& spec, const KernelFacts& kernel, const DeviceLimits& limits) {
  if (!spec.cluster) return check_cluster_is_asked_for(spec, kernel);
  const Dim3 &cluster = *spec.cluster, &grid = spec.grid;
  const std::string asked = "cluster is " + text(cluster) + ", ";
  if (!limits.launches_clusters) {
    refuse_launch(spec, asked + limits.name + " (" + limits.architecture +
                            ") launches no clusters; those of compute capability 9.0 and above do");
  }
  if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) {
    refuse_launch(spec, asked + "every dimension must be at least 1");
  }
  if (kernel.compiled_cluster && !same(*kernel.compiled_cluster, cluster)) {
    refuse_launch(spec, asked + "the kernel is compiled for clusters of " +
                            text(*kernel.compiled_cluster) + " blocks (__cluster_dims__)");
  }
  if (cluster.count() > kMostClusterBlocks) {
    refuse_launch(spec, asked + "which is " + std::to_string(cluster.count()) +
                            " blocks, the limit is " + std::to_string(kMostClusterBlocks));
  }
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    refuse_launch(spec, asked + "which does not divide the grid " + text(grid));
  }
}

}  // namespace

void refuse_launch(const LaunchSpec& spec, const std::string& why) {
  throw Fault(FaultKind::invalid_launch, "launch of '" + spec.entry + "': " + why);
}

void check_launch(const LaunchSpec& spec, const KernelFacts& kernel, const DeviceLimits& limits) {
  check_extent(spec, "grid", spec.grid, limits.max_grid);
  check_extent(spec, "block", spec.block, limits.max_block);
  check_threads(spec, kernel, limits);
  check_shared(spec, kernel, limits);
  check_cluster(spec, kernel, limits);
}

void check_resident(const LaunchSpec& spec, std::uint64_t blocks_per_multiprocessor,
                    const DeviceLimits& limits) {
  const std::uint64_t most = blocks_per_multiprocessor * limits.multiprocessors;
  if (!spec.cooperative || spec.grid.count() <= most) return;
  refuse_launch(spec, "a cooperative launch of " + std::to_string(spec.grid.count()) + " blocks, " +
                          std::to_string(most) + " are resident at once (" +
                          std::to_string(blocks_per_multiprocessor) + " on each of " +
                          std::to_string(limits.multiprocessors) + " multiprocessors)");
}

void refuse_unknown_symbol(const LaunchSpec& spec, const SymbolWrite& write) {
  throw Fault(FaultKind::unknown_entry,
              "module '" + spec.module + "' has no __constant__ or __device__ variable '" +
                  write.symbol + "' to be written before the launch of '" + spec.entry +
                  "'. Declare it in the module's \"symbols\", which keeps it in the program.");
}

void check_symbol_size(const LaunchSpec& spec, const SymbolWrite& write,
                       std::uint64_t variable_bytes, std::uint64_t buffer_bytes) {
  if (variable_bytes == buffer_bytes) return;
  refuse_launch(spec, "its variable '" + write.symbol + "' has " + std::to_string(variable_bytes) +
                          " bytes, expected the " + std::to_string(buffer_bytes) +
                          " that are declared");
}

}  // namespace cudaopt

// Divide every row by its largest magnitude. A cluster of two blocks shares a row, and each reads
// the other's part of the maximum from its shared memory.
//
// @launch grid=(2 * rows) block=(BLOCK) cluster=(2, 1, 1)
// @tune BLOCK = 128, 64, 256

#include <cooperative_groups.h>

#include <kit/reduce.cuh>

extern "C" __global__ void __launch_bounds__(BLOCK)
    scale_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float largest_of_part;
  const auto cluster = cooperative_groups::this_cluster();
  const int parts = cluster.num_blocks();
  const int part = cluster.block_rank();
  const size_t row = blockIdx.x / parts;
  x += row * cols;
  y += row * cols;

  float largest = 0.0f;
  for (int col = part * BLOCK + threadIdx.x; col < cols; col += parts * BLOCK) {
    largest = fmaxf(largest, fabsf(x[col]));
  }
  largest = kit::block_reduce<BLOCK>(largest, kit::Max{});
  if (threadIdx.x == 0) {
    largest_of_part = largest;
  }
  cluster.sync();
  for (int other = 0; other < parts; ++other) {
    largest = fmaxf(largest, *cluster.map_shared_rank(&largest_of_part, other));
  }
  cluster.sync();  // nobody may leave while others read its shared memory

  for (int col = part * BLOCK + threadIdx.x; col < cols; col += parts * BLOCK) {
    y[col] = x[col] / largest;
  }
}

// Bring an array to mean 0 and variance 1 in one launch: all blocks wait for each other twice.
// `partial` holds a sum of each block, then a sum of squares.
//
// @launch grid=(min(cdiv(n, 4 * BLOCK), 64)) block=(BLOCK) cooperative
// @tune BLOCK = 256, 128, 512

#include <cooperative_groups.h>

#include <kit/reduce.cuh>

constexpr int MOST_BLOCKS = 64;

// Return the sum of `own` over all threads of all blocks.
__device__ float grid_sum(float own, float* partial) {
  const float sum = kit::block_reduce<BLOCK>(own, kit::Sum{});
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
  }
  cooperative_groups::this_grid().sync();
  float total = 0.0f;
  for (int block = 0; block < gridDim.x; ++block) {
    total += partial[block];
  }
  return total;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    standardise(const float* __restrict__ x, float* __restrict__ y, float* partial, float epsilon,
                int n) {
  const int first = blockIdx.x * BLOCK + threadIdx.x;
  const int step = gridDim.x * BLOCK;

  float sum = 0.0f;
  for (int i = first; i < n; i += step) {
    sum += x[i];
  }
  const float mean = grid_sum(sum, partial) / n;

  float squares = 0.0f;
  for (int i = first; i < n; i += step) {
    squares += (x[i] - mean) * (x[i] - mean);
  }
  const float factor = rsqrtf(grid_sum(squares, partial + MOST_BLOCKS) / n + epsilon);

  for (int i = first; i < n; i += step) {
    y[i] = (x[i] - mean) * factor;
  }
}

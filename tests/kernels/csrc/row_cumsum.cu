// Running sum of every row, with or without the element itself. One block walks along a row, BLOCK
// elements at a time, and carries the sum over.
//
// @launch grid=(rows) block=(BLOCK)
// @tune BLOCK = 128, 64, 256, 512

#include <kit/reduce.cuh>

// Return the sum over the lanes up to this one, itself included.
__device__ __forceinline__ float warp_scan(float value) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const float left = __shfl_up_sync(kit::ALL_LANES, value, distance);
    value += lane >= distance ? left : 0.0f;
  }
  return value;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    row_cumsum(const float* __restrict__ x, float* __restrict__ y, int exclusive, int rows,
               int cols) {
  constexpr int warps = BLOCK / 32;
  __shared__ float warp_sums[warps];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  float carry = 0.0f;
  for (int start = 0; start < cols; start += BLOCK) {
    const int col = start + threadIdx.x;
    const float scanned = warp_scan(col < cols ? x[col] : 0.0f);
    if (lane == 31) {
      warp_sums[warp] = scanned;
    }
    __syncthreads();

    float before = carry;
    float total = 0.0f;
    for (int i = 0; i < warps; ++i) {
      before += i < warp ? warp_sums[i] : 0.0f;
      total += warp_sums[i];
    }
    float without_own = __shfl_up_sync(kit::ALL_LANES, scanned, 1);
    without_own = lane == 0 ? 0.0f : without_own;
    if (col < cols) {
      y[col] = before + (exclusive != 0 ? without_own : scanned);
    }
    carry += total;
    __syncthreads();  // the next part refills `warp_sums`
  }
}

// The largest element of every row and where it stands; the first of equals. One warp per row.
//
// @launch grid=(cdiv(rows, WARPS)) block=(32, WARPS)
// @tune WARPS = 4, 1, 8

#include <cuda_fp16.h>

#include <kit/reduce.cuh>

extern "C" __global__ void row_argmax(const __half* __restrict__ x, float* __restrict__ largest,
                                      long long* __restrict__ index, int rows, int cols) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= rows) {
    return;
  }
  x += static_cast<size_t>(row) * cols;

  float best = kit::minus_infinity();
  int place = cols;
  for (int col = threadIdx.x; col < cols; col += 32) {
    const float value = __half2float(x[col]);
    if (value > best || place == cols) {
      best = value;
      place = col;
    }
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_down_sync(kit::ALL_LANES, best, distance);
    const int other_place = __shfl_down_sync(kit::ALL_LANES, place, distance);
    if (other > best || (other == best && other_place < place)) {
      best = other;
      place = other_place;
    }
  }
  if (threadIdx.x == 0) {
    largest[row] = best;
    index[row] = place;
  }
}

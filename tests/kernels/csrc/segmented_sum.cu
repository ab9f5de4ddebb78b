// Sum the rows of each segment; a segment may be empty. A warp takes 32 columns of a segment.
//
// @launch grid=(cdiv(width, 32), segments) block=(32, ROWS)
// @tune ROWS = 4, 2, 8

#include <cstdint>

extern "C" __global__ void segmented_sum(const float* __restrict__ x,
                                         const int64_t* __restrict__ offsets,
                                         float* __restrict__ out, int width) {
  __shared__ float partial[ROWS][32];
  const int segment = blockIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;

  float sum = 0.0f;
  if (col < width) {
    for (int64_t row = offsets[segment] + threadIdx.y; row < offsets[segment + 1]; row += ROWS) {
      sum += x[row * width + col];
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y == 0 && col < width) {
    for (int i = 1; i < ROWS; ++i) {
      sum += partial[i][threadIdx.x];
    }
    out[static_cast<int64_t>(segment) * width + col] = sum;
  }
}

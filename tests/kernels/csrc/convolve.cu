// Convolve every row with taps in constant memory; beyond its ends a row is zero. A block stages
// its part of the row, with RADIUS more on both sides, in shared memory.
//
// @launch grid=(cdiv(cols, BLOCK), rows) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

namespace filter {

__constant__ float taps[2 * RADIUS + 1];

__global__ void __launch_bounds__(BLOCK)
    convolve(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  __shared__ float part[BLOCK + 2 * RADIUS];
  x += static_cast<size_t>(blockIdx.y) * cols;
  const int start = blockIdx.x * BLOCK;
  for (int i = threadIdx.x; i < BLOCK + 2 * RADIUS; i += BLOCK) {
    const int col = start + i - RADIUS;
    part[i] = col >= 0 && col < cols ? x[col] : 0.0f;
  }
  __syncthreads();

  const int col = start + threadIdx.x;
  if (col >= cols) {
    return;
  }
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i <= 2 * RADIUS; ++i) {
    sum += taps[i] * part[threadIdx.x + i];
  }
  y[static_cast<size_t>(blockIdx.y) * cols + col] = sum;
}

}  // namespace filter

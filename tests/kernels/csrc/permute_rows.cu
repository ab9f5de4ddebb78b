// Move every row to its target, and write down where each target's row came from.
//
// @launch grid=(rows) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

#include <cuda_fp16.h>

extern "C" __global__ void permute_rows(const __half* __restrict__ x,
                                        const int* __restrict__ target, __half* __restrict__ y,
                                        int* __restrict__ inverse, int rows, int width) {
  const int row = blockIdx.x;
  const int to = target[row];
  if (threadIdx.x == 0) {
    inverse[to] = row;
  }
  for (int col = threadIdx.x; col < width; col += BLOCK) {
    y[static_cast<size_t>(to) * width + col] = x[static_cast<size_t>(row) * width + col];
  }
}

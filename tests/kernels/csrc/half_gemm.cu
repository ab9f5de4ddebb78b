// Matrix product in half precision, summed in float: a block computes a tile of 32 x 32, a thread 2
// x 2 of it.
//
// @launch grid=(cdiv(n, 32), cdiv(m, 32)) block=(16, 16)
// @tune DEPTH = 16, 8, 32

#include <cuda_fp16.h>

extern "C" __global__ void __launch_bounds__(256)
    half_gemm(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c,
              int m, int n, int k) {
  // One column more: threads read down the columns of `a`.
  __shared__ float a_tile[32][DEPTH + 1];
  __shared__ float b_tile[DEPTH][32];
  const int thread = threadIdx.y * 16 + threadIdx.x;
  const int first_row = blockIdx.y * 32;
  const int first_col = blockIdx.x * 32;

  float sums[2][2] = {};
  for (int start = 0; start < k; start += DEPTH) {
    for (int i = thread; i < 32 * DEPTH; i += 256) {
      const int a_row = first_row + i / DEPTH;
      const int a_col = start + i % DEPTH;
      a_tile[i / DEPTH][i % DEPTH] =
          a_row < m && a_col < k ? __half2float(a[static_cast<size_t>(a_row) * k + a_col]) : 0.0f;
      const int b_row = start + i / 32;
      const int b_col = first_col + i % 32;
      b_tile[i / 32][i % 32] =
          b_row < k && b_col < n ? __half2float(b[static_cast<size_t>(b_row) * n + b_col]) : 0.0f;
    }
    __syncthreads();
#pragma unroll
    for (int depth = 0; depth < DEPTH; ++depth) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          sums[i][j] += a_tile[threadIdx.y + 16 * i][depth] * b_tile[depth][threadIdx.x + 16 * j];
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      const int row = first_row + threadIdx.y + 16 * i;
      const int col = first_col + threadIdx.x + 16 * j;
      if (row < m && col < n) {
        c[static_cast<size_t>(row) * n + col] = __float2half_rn(sums[i][j]);
      }
    }
  }
}

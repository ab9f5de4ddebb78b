// Matrix product in half precision, summed in float: what faster ones are compared with.
//
// @launch grid=(cdiv(n, 32), cdiv(m, 4)) block=(32, 4)

#include <cuda_fp16.h>

extern "C" __global__ void naive_gemm(const __half* a, const __half* b, __half* c, int m, int n,
                                      int k) {
  const int row = blockIdx.y * 4 + threadIdx.y;
  const int col = blockIdx.x * 32 + threadIdx.x;
  if (row >= m || col >= n) {
    return;
  }
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) {
    sum += __half2float(a[static_cast<size_t>(row) * k + i]) *
           __half2float(b[static_cast<size_t>(i) * n + col]);
  }
  c[static_cast<size_t>(row) * n + col] = __float2half_rn(sum);
}

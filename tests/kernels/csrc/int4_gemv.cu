// Matrix-vector product with 4-bit weights, two in a byte, the even column in the low half; 8
// stands for zero, and every `group` columns of a row share a scale. One warp per row, eight
// weights per lane at once.
//
// @launch grid=(cdiv(rows, WARPS)) block=(32, WARPS)
// @tune WARPS = 4, 2, 8

#include <cuda_fp16.h>

#include <kit/reduce.cuh>
#include <kit/vector.cuh>

extern "C" __global__ void int4_gemv(const unsigned char* __restrict__ weights,
                                     const __half* __restrict__ scales,
                                     const __half* __restrict__ x, __half* __restrict__ y, int rows,
                                     int cols, int group) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= rows) {
    return;
  }
  weights += static_cast<size_t>(row) * (cols / 2);
  scales += static_cast<size_t>(row) * (cols / group);

  float sum = 0.0f;
  for (int col = 8 * threadIdx.x; col < cols; col += 8 * 32) {
    const unsigned packed = *reinterpret_cast<const unsigned*>(weights + col / 2);
    const auto factors = kit::load_packed(x + col);
    float part = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int weight = static_cast<int>(packed >> (4 * i) & 0xf) - 8;
      part += weight * __half2float(factors.at[i]);
    }
    // A group is a multiple of eight columns.
    sum += part * __half2float(scales[col / group]);
  }
  sum = kit::warp_reduce(sum, kit::Sum{});
  if (threadIdx.x == 0) {
    y[row] = __float2half_rn(sum);
  }
}

// alpha * matrix * vector for every member of a batch, everything handed over in one struct. Rows
// of the matrix lie `row_stride` elements apart. One warp per row.
//
// @launch grid=(cdiv(rows, WARPS), batch) block=(32, WARPS)
// @tune WARPS = 4, 2, 8

#include <cuda_fp16.h>

#include <kit/reduce.cuh>

namespace blas {

struct BatchedGemv {
  const __half* matrix;
  const __half* vector;
  float* out;
  long long batch_stride;
  long long row_stride;
  int rows;
  int cols;
  float alpha;
};

__global__ void batched_gemv(const BatchedGemv params) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= params.rows) {
    return;
  }
  const __half* matrix = params.matrix + blockIdx.y * params.batch_stride + row * params.row_stride;
  const __half* vector = params.vector + static_cast<size_t>(blockIdx.y) * params.cols;
  float sum = 0.0f;
  for (int col = threadIdx.x; col < params.cols; col += 32) {
    sum += __half2float(matrix[col]) * __half2float(vector[col]);
  }
  sum = kit::warp_reduce(sum, kit::Sum{});
  if (threadIdx.x == 0) {
    params.out[static_cast<size_t>(blockIdx.y) * params.rows + row] = params.alpha * sum;
  }
}

}  // namespace blas

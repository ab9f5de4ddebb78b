// Add every row of `x` to the row of `out` its index names. All counts are 64-bit, so that tensors
// of more than 2^31 elements are addressed.
//
// @launch grid=(max(1, min(cdiv(rows * width, BLOCK), 2048))) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

#include <cstdint>

extern "C" __global__ void scatter_add(const float* __restrict__ x,
                                       const int64_t* __restrict__ index, float* __restrict__ out,
                                       int64_t rows, int64_t width) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * width;
       i += step) {
    const int64_t row = i / width;
    const int64_t col = i - row * width;
    atomicAdd(&out[index[row] * width + col], x[i]);
  }
}

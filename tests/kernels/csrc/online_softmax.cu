// Softmax of every row in two passes: the largest element and the sum of exponentials are found
// together. One warp per row.
//
// @launch grid=(cdiv(rows, WARPS)) block=(32, WARPS)
// @tune WARPS = 4, 1, 2, 8

#include <kit/reduce.cuh>

// The sum of exp(x - largest) over the elements seen so far.
struct Running {
  float largest;
  float sum;
};

__device__ __forceinline__ Running merge(Running a, Running b) {
  const float largest = fmaxf(a.largest, b.largest);
  // Where nothing was seen `largest` is minus infinity, and infinity minus itself is no number.
  const float of_a = a.largest == largest ? a.sum : a.sum * __expf(a.largest - largest);
  const float of_b = b.largest == largest ? b.sum : b.sum * __expf(b.largest - largest);
  return {largest, of_a + of_b};
}

extern "C" __global__ void online_softmax(const float* __restrict__ x, float* __restrict__ y,
                                          int rows, int cols) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= rows) {
    return;
  }
  x += static_cast<size_t>(row) * cols;
  y += static_cast<size_t>(row) * cols;

  Running seen{kit::minus_infinity(), 0.0f};
  for (int col = threadIdx.x; col < cols; col += 32) {
    seen = merge(seen, {x[col], 1.0f});
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    const Running other{__shfl_xor_sync(kit::ALL_LANES, seen.largest, distance),
                        __shfl_xor_sync(kit::ALL_LANES, seen.sum, distance)};
    seen = merge(seen, other);
  }

  const float factor = 1.0f / seen.sum;
  for (int col = threadIdx.x; col < cols; col += 32) {
    y[col] = __expf(x[col] - seen.largest) * factor;
  }
}

// (q - zero) * scale with a zero point and a scale for every column; four columns at once where
// rows allow it.
//
// @launch grid=(max(1, min(cdiv(rows * cols, 4 * BLOCK), 1024))) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

#include <kit/convert.cuh>

template <typename T>
__device__ __forceinline__ T dequantised(signed char q, signed char zero, float scale) {
  return kit::from_float<T>(static_cast<float>(q - zero) * scale);
}

template <typename T>
struct alignas(4 * sizeof(T)) Four {
  T at[4];
};

template <typename T>
__global__ void dequantise(const signed char* __restrict__ q, const signed char* __restrict__ zeros,
                           const float* __restrict__ scales, T* __restrict__ out, int rows,
                           int cols) {
  const size_t step = static_cast<size_t>(gridDim.x) * blockDim.x;
  const size_t first = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const size_t count = static_cast<size_t>(rows) * cols;
  if (cols % 4 == 0) {
    for (size_t i = 4 * first; i < count; i += 4 * step) {
      const int col = i % cols;
      const char4 quad = *reinterpret_cast<const char4*>(q + i);
      const char4 zero = *reinterpret_cast<const char4*>(zeros + col);
      const float4 scale = *reinterpret_cast<const float4*>(scales + col);
      *reinterpret_cast<Four<T>*>(out + i) = {
          dequantised<T>(quad.x, zero.x, scale.x), dequantised<T>(quad.y, zero.y, scale.y),
          dequantised<T>(quad.z, zero.z, scale.z), dequantised<T>(quad.w, zero.w, scale.w)};
    }
    return;
  }
  for (size_t i = first; i < count; i += step) {
    const int col = i % cols;
    out[i] = dequantised<T>(q[i], zeros[col], scales[col]);
  }
}

// silu(gate) * up, where a row of `x` holds the gates and then the ups; two elements at once where
// rows allow it.
//
// @launch grid=(cdiv(width, 2 * BLOCK), rows) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

#include <cuda_fp16.h>

__device__ __forceinline__ float gated(float gate, float up) {
  return gate / (1.0f + __expf(-gate)) * up;
}

extern "C" __global__ void swiglu(const __half* __restrict__ x, __half* __restrict__ y, int rows,
                                  int width) {
  const __half* gates = x + static_cast<size_t>(blockIdx.y) * 2 * width;
  const __half* ups = gates + width;
  y += static_cast<size_t>(blockIdx.y) * width;
  const int col = 2 * (blockIdx.x * BLOCK + threadIdx.x);
  if (width % 2 == 0 && col < width) {
    const float2 gate = __half22float2(*reinterpret_cast<const __half2*>(gates + col));
    const float2 up = __half22float2(*reinterpret_cast<const __half2*>(ups + col));
    *reinterpret_cast<__half2*>(y + col) =
        __floats2half2_rn(gated(gate.x, up.x), gated(gate.y, up.y));
    return;
  }
  for (int i = col; i < min(col + 2, width); ++i) {
    y[i] = __float2half_rn(gated(__half2float(gates[i]), __half2float(ups[i])));
  }
}

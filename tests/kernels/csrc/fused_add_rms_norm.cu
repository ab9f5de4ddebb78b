// residual += hidden; hidden = residual / rms(residual) * weight. Both in place, one block per
// token.
//
// @launch grid=(tokens) block=(BLOCK)
// @tune BLOCK = 128, 64, 256, 512

#include <cuda_bf16.h>

#include <kit/reduce.cuh>
#include <kit/vector.cuh>

using bf16 = __nv_bfloat16;

// Return the new residual, rounded as it is stored.
__device__ __forceinline__ bf16 add(bf16 hidden, bf16 residual) {
  return __float2bfloat16_rn(__bfloat162float(hidden) + __bfloat162float(residual));
}

__device__ __forceinline__ float square(bf16 value) {
  return __bfloat162float(value) * __bfloat162float(value);
}

__device__ __forceinline__ bf16 scaled(bf16 value, float factor, float weight) {
  return __float2bfloat16_rn(__bfloat162float(value) * factor * weight);
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    fused_add_rms_norm(bf16* __restrict__ hidden, bf16* __restrict__ residual,
                       const float* __restrict__ weight, float epsilon, int tokens, int width) {
  constexpr int pack = kit::Packed<bf16>::count;
  const size_t row = static_cast<size_t>(blockIdx.x) * width;
  hidden += row;
  residual += row;
  // Rows start at multiples of 16 bytes only if the width allows it.
  const int packed_end = width % pack == 0 ? width : 0;

  float squares = 0.0f;
  for (int col = threadIdx.x * pack; col < packed_end; col += BLOCK * pack) {
    const auto added = kit::load_packed(hidden + col);
    auto sum = kit::load_packed(residual + col);
#pragma unroll
    for (int i = 0; i < pack; ++i) {
      sum.at[i] = add(added.at[i], sum.at[i]);
      squares += square(sum.at[i]);
    }
    kit::store_packed(residual + col, sum);
  }
  for (int col = packed_end + threadIdx.x; col < width; col += BLOCK) {
    const bf16 sum = add(hidden[col], residual[col]);
    squares += square(sum);
    residual[col] = sum;
  }

  const float total = kit::block_reduce<BLOCK>(squares, kit::Sum{});
  const float factor = rsqrtf(total / width + epsilon);

  // Each thread reads back what it wrote itself.
  for (int col = threadIdx.x * pack; col < packed_end; col += BLOCK * pack) {
    auto out = kit::load_packed(residual + col);
#pragma unroll
    for (int i = 0; i < pack; ++i) {
      out.at[i] = scaled(out.at[i], factor, weight[col + i]);
    }
    kit::store_packed(hidden + col, out);
  }
  for (int col = packed_end + threadIdx.x; col < width; col += BLOCK) {
    hidden[col] = scaled(residual[col], factor, weight[col]);
  }
}

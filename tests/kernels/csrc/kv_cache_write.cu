// Quantise new keys and values and write each token's to its slot of the cache; a token whose slot
// is -1 is padding. Scales are per head. One block per token.
//
// @launch grid=(tokens) block=(BLOCK)
// @tune BLOCK = 64, 32, 128

#include <cuda_bf16.h>
#include <cuda_fp8.h>

extern "C" __global__ void kv_cache_write(
    const __nv_bfloat16* __restrict__ keys, const __nv_bfloat16* __restrict__ values,
    const long long* __restrict__ slot_mapping, const float* __restrict__ key_scales,
    const float* __restrict__ value_scales, __nv_fp8_e4m3* __restrict__ key_cache,
    __nv_fp8_e4m3* __restrict__ value_cache, int heads, int head_dim) {
  const long long slot = slot_mapping[blockIdx.x];
  if (slot < 0) {
    return;
  }
  const int width = heads * head_dim;
  const size_t from = static_cast<size_t>(blockIdx.x) * width;
  const size_t to = static_cast<size_t>(slot) * width;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const int head = i / head_dim;
    key_cache[to + i] = __nv_fp8_e4m3(__bfloat162float(keys[from + i]) / key_scales[head]);
    value_cache[to + i] = __nv_fp8_e4m3(__bfloat162float(values[from + i]) / value_scales[head]);
  }
}

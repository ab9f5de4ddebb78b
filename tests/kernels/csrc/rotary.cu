// Rotate queries and keys by their position, in place. Both are views of the output of one
// projection, so that tokens lie `query_stride` and `key_stride` elements apart. `cosines_sines`
// holds the cosines of a position and then its sines. One block per token.
//
// @launch grid=(tokens) block=(BLOCK)
// @tune BLOCK = 64, 32, 128

#include <cuda_fp16.h>

__device__ __forceinline__ void rotate(__half* __restrict__ head, int pair, int half_dim,
                                       float cosine, float sine) {
  const float a = __half2float(head[pair]);
  const float b = __half2float(head[pair + half_dim]);
  head[pair] = __float2half_rn(a * cosine - b * sine);
  head[pair + half_dim] = __float2half_rn(b * cosine + a * sine);
}

extern "C" __global__ void rotary(__half* __restrict__ query, __half* __restrict__ key,
                                  const long long* __restrict__ positions,
                                  const float* __restrict__ cosines_sines, long long query_stride,
                                  long long key_stride, int heads, int kv_heads, int head_dim) {
  const int half_dim = head_dim / 2;
  const float* own = cosines_sines + positions[blockIdx.x] * head_dim;
  for (int i = threadIdx.x; i < heads * half_dim; i += BLOCK) {
    const int pair = i % half_dim;
    __half* head = query + blockIdx.x * query_stride + static_cast<size_t>(i / half_dim) * head_dim;
    rotate(head, pair, half_dim, own[pair], own[half_dim + pair]);
  }
  for (int i = threadIdx.x; i < kv_heads * half_dim; i += BLOCK) {
    const int pair = i % half_dim;
    __half* head = key + blockIdx.x * key_stride + static_cast<size_t>(i / half_dim) * head_dim;
    rotate(head, pair, half_dim, own[pair], own[half_dim + pair]);
  }
}

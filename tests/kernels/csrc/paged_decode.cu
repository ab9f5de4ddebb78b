// Attention of one new token per sequence over keys and values kept in pages. Several query heads
// share a key head. One block per (head, sequence); the scores of the whole sequence stand in
// shared memory.
//
// @launch grid=(heads, sequences) block=(BLOCK) shared=4*max_pages*page
// @tune BLOCK = 128, 64, 256

#include <cuda_fp16.h>

#include <kit/reduce.cuh>

// Return the dot product of `query`, in shared memory, and `key`; every lane of the warp gets it.
template <int HeadDim>
__device__ __forceinline__ float warp_dot(const float* query, const __half* __restrict__ key) {
  float sum = 0.0f;
#pragma unroll
  for (int d = 2 * (threadIdx.x % 32); d < HeadDim; d += 64) {
    const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(key + d));
    sum += query[d] * pair.x + query[d + 1] * pair.y;
  }
  return kit::warp_reduce(sum, kit::Sum{});
}

template <int HeadDim, int Page>
__global__ void __launch_bounds__(BLOCK)
    paged_decode(const __half* __restrict__ query, const __half* __restrict__ keys,
                 const __half* __restrict__ values, const int* __restrict__ lengths,
                 const int* __restrict__ block_tables, __half* __restrict__ out, float scale,
                 int heads, int kv_heads, int max_pages) {
  static_assert(HeadDim % 2 == 0, "keys are read two elements at a time");
  extern __shared__ float scores[];
  __shared__ float own_query[HeadDim];
  const int head = blockIdx.x;
  const int sequence = blockIdx.y;
  const int kv_head = head / (heads / kv_heads);
  const int length = lengths[sequence];
  const int* table = block_tables + static_cast<size_t>(sequence) * max_pages;
  const size_t own = (static_cast<size_t>(sequence) * heads + head) * HeadDim;

  // Return where the token's vector starts, in keys and values alike.
  auto start_of = [&](int token) {
    const size_t page = table[token / Page];
    return ((page * kv_heads + kv_head) * Page + token % Page) * HeadDim;
  };

  for (int d = threadIdx.x; d < HeadDim; d += BLOCK) {
    own_query[d] = __half2float(query[own + d]) * scale;
  }
  __syncthreads();

  float largest = kit::minus_infinity();
  for (int token = threadIdx.x / 32; token < length; token += BLOCK / 32) {
    const float score = warp_dot<HeadDim>(own_query, keys + start_of(token));
    if (threadIdx.x % 32 == 0) {
      scores[token] = score;
    }
    largest = fmaxf(largest, score);
  }
  largest = kit::block_reduce<BLOCK>(largest, kit::Max{});

  float sum = 0.0f;
  for (int token = threadIdx.x; token < length; token += BLOCK) {
    scores[token] = __expf(scores[token] - largest);
    sum += scores[token];
  }
  sum = kit::block_reduce<BLOCK>(sum, kit::Sum{});

  // A sequence without tokens attends to nothing and gives zeros.
  const float factor = length > 0 ? 1.0f / sum : 0.0f;
  for (int d = threadIdx.x; d < HeadDim; d += BLOCK) {
    float mixed = 0.0f;
    for (int token = 0; token < length; ++token) {
      mixed += scores[token] * __half2float(values[start_of(token) + d]);
    }
    out[own + d] = __float2half_rn(mixed * factor);
  }
}

// Causal attention of several tokens, the last of which is the last key: one warp per query, keys
// and values staged 32 at a time in shared memory, softmax on the way.
//
// @launch grid=(cdiv(tokens, QUERIES), heads, batch) block=(32, QUERIES)
// @tune QUERIES = 4, 2, 8

#include <kit/convert.cuh>
#include <kit/reduce.cuh>

#include "causal.cuh"

namespace attention {

constexpr int TILE = 32;  // one key per lane

template <typename T, int HeadDim>
__global__ void __launch_bounds__(32 * QUERIES)
    prefill(const T* __restrict__ q, const T* __restrict__ k, const T* __restrict__ v,
            T* __restrict__ out, float scale, int heads, int tokens, int keys) {
  static_assert(HeadDim % 32 == 0, "each lane owns every 32nd dimension");
  constexpr int owned = HeadDim / 32;
  // One column more: the lanes read a column of keys at once.
  __shared__ float key_tile[TILE][HeadDim + 1];
  __shared__ float value_tile[TILE][HeadDim];
  __shared__ float query_rows[QUERIES][HeadDim];

  const int lane = threadIdx.x;
  const int row = blockIdx.x * QUERIES + threadIdx.y;
  const bool has_row = row < tokens;
  const size_t slice = static_cast<size_t>(blockIdx.z) * heads + blockIdx.y;
  k += slice * keys * HeadDim;
  v += slice * keys * HeadDim;
  const size_t own = (slice * tokens + row) * HeadDim;
  for (int i = 0; i < owned; ++i) {
    const int d = i * 32 + lane;
    query_rows[threadIdx.y][d] = has_row ? kit::to_float(q[own + d]) * scale : 0.0f;
  }

  float largest = kit::minus_infinity();
  float sum = 0.0f;
  float mixed[owned] = {};
  const int last_row = min(tokens, static_cast<int>(blockIdx.x + 1) * QUERIES) - 1;
  const int end = keys_seen_by(last_row, tokens, keys);
  for (int start = 0; start < end; start += TILE) {
    __syncthreads();  // nobody may still read the tile before
    for (int i = threadIdx.y * 32 + lane; i < TILE * HeadDim; i += 32 * QUERIES) {
      const int key = start + i / HeadDim;
      const size_t at = static_cast<size_t>(start) * HeadDim + i;
      key_tile[i / HeadDim][i % HeadDim] = key < keys ? kit::to_float(k[at]) : 0.0f;
      value_tile[i / HeadDim][i % HeadDim] = key < keys ? kit::to_float(v[at]) : 0.0f;
    }
    __syncthreads();

    float score = 0.0f;
#pragma unroll 8
    for (int d = 0; d < HeadDim; ++d) {
      score += query_rows[threadIdx.y][d] * key_tile[lane][d];
    }
    const bool is_seen = has_row && start + lane < keys_seen_by(row, tokens, keys);
    score = is_seen ? score : kit::minus_infinity();
    const float new_largest = fmaxf(largest, kit::warp_reduce(score, kit::Max{}));
    // Without any seen key so far there is nothing to rescale, and infinities must not meet.
    const float rescale = largest == new_largest ? 1.0f : __expf(largest - new_largest);
    const float weight = is_seen ? __expf(score - new_largest) : 0.0f;
    sum = sum * rescale + kit::warp_reduce(weight, kit::Sum{});
    for (int i = 0; i < owned; ++i) {
      mixed[i] *= rescale;
    }
#pragma unroll 4
    for (int key = 0; key < TILE; ++key) {
      const float of_key = __shfl_sync(kit::ALL_LANES, weight, key);
      for (int i = 0; i < owned; ++i) {
        mixed[i] += of_key * value_tile[key][i * 32 + lane];
      }
    }
    largest = new_largest;
  }
  if (has_row) {
    for (int i = 0; i < owned; ++i) {
      out[own + i * 32 + lane] = kit::from_float<T>(mixed[i] / sum);
    }
  }
}

}  // namespace attention

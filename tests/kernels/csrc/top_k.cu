// The `k` largest elements of every row, the largest first. Among equals any may be taken: here the
// one that stands last. One warp per row; no element is marked as taken, since each round looks
// only at what comes after its predecessor in the order (value, place).
//
// @launch grid=(cdiv(rows, WARPS)) block=(32, WARPS)
// @tune WARPS = 4, 1, 2

#include <kit/reduce.cuh>

struct Ranked {
  float value;
  int place;
};

__device__ __forceinline__ bool before(Ranked a, Ranked b) {
  return a.value > b.value || (a.value == b.value && a.place > b.place);
}

template <int K>
__global__ void top_k(const float* __restrict__ x, float* __restrict__ values,
                      int* __restrict__ places, int rows, int cols) {
  const int row = blockIdx.x * WARPS + threadIdx.y;
  if (row >= rows) {
    return;
  }
  x += static_cast<size_t>(row) * cols;

  Ranked last{-kit::minus_infinity(), cols};
  for (int round = 0; round < K; ++round) {
    Ranked best{kit::minus_infinity(), -1};
    for (int col = threadIdx.x; col < cols; col += 32) {
      const Ranked here{x[col], col};
      if (before(last, here) && before(here, best)) {
        best = here;
      }
    }
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      const Ranked other{__shfl_xor_sync(kit::ALL_LANES, best.value, distance),
                         __shfl_xor_sync(kit::ALL_LANES, best.place, distance)};
      best = before(other, best) ? other : best;
    }
    if (threadIdx.x == 0) {
      values[static_cast<size_t>(row) * K + round] = best.value;
      places[static_cast<size_t>(row) * K + round] = best.place;
    }
    last = best;
  }
}

// Reductions over a warp and over a block whose threads number a multiple of 32.
#pragma once

namespace kit {

constexpr unsigned ALL_LANES = 0xffffffffu;

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xff800000); }

struct Sum {
  static __device__ float identity() { return 0.0f; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Max {
  static __device__ float identity() { return minus_infinity(); }
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

template <typename Operation>
__device__ __forceinline__ float warp_reduce(float value, Operation combine) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(ALL_LANES, value, distance));
  }
  return value;
}

// Every thread gets the result.
template <int Threads, typename Operation>
__device__ float block_reduce(float value, Operation combine) {
  static_assert(Threads % 32 == 0 && Threads <= 1024, "whole warps, one block");
  constexpr int warps = Threads / 32;
  __shared__ float partial[warps];
  const int lane = threadIdx.x % 32;
  value = warp_reduce(value, combine);
  if (lane == 0) {
    partial[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = warp_reduce(lane < warps ? partial[lane] : Operation::identity(), combine);
  __syncthreads();  // the next reduction refills `partial`
  return value;
}

}  // namespace kit

// Softmax of each row, one block per row, three passes over global memory.
__device__ __forceinline__ float warp_max(float v) {
  for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o));
  return v;
}

__device__ __forceinline__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  return v;
}

extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int columns) {
  const float infinity = __int_as_float(0x7f800000);
  __shared__ float partial[32];
  int row = blockIdx.x, t = threadIdx.x, lane = t & 31, warp = t >> 5, warps = blockDim.x >> 5;
  const float* from = x + (size_t)row * columns;
  float* to = y + (size_t)row * columns;
  float largest = -infinity;
  for (int c = t; c < columns; c += blockDim.x) largest = fmaxf(largest, from[c]);
  largest = warp_max(largest);
  if (lane == 0) partial[warp] = largest;
  __syncthreads();
  if (warp == 0) {
    largest = lane < warps ? partial[lane] : -infinity;
    largest = warp_max(largest);
    if (lane == 0) partial[0] = largest;
  }
  __syncthreads();
  largest = partial[0];
  __syncthreads();
  float sum = 0;
  for (int c = t; c < columns; c += blockDim.x) sum += __expf(from[c] - largest);
  sum = warp_sum(sum);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < warps ? partial[lane] : 0.f;
    sum = warp_sum(sum);
    if (lane == 0) partial[0] = sum;
  }
  __syncthreads();
  float inverse = 1.f / partial[0];
  for (int c = t; c < columns; c += blockDim.x) to[c] = __expf(from[c] - largest) * inverse;
}

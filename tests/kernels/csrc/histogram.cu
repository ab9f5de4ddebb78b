// Count bytes into bins that may already hold counts. Each block counts in shared memory first.
//
// @launch grid=(max(1, min(cdiv(n, 16 * BLOCK), 256))) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

extern "C" __global__ void histogram(const unsigned char* __restrict__ bytes,
                                     unsigned* __restrict__ counts, int n) {
  __shared__ unsigned own[256];
  for (int bin = threadIdx.x; bin < 256; bin += BLOCK) {
    own[bin] = 0;
  }
  __syncthreads();

  const int first = blockIdx.x * BLOCK + threadIdx.x;
  const int step = gridDim.x * BLOCK;
  const int quads = n / 4;
  for (int i = first; i < quads; i += step) {
    const uchar4 quad = reinterpret_cast<const uchar4*>(bytes)[i];
    atomicAdd(&own[quad.x], 1u);
    atomicAdd(&own[quad.y], 1u);
    atomicAdd(&own[quad.z], 1u);
    atomicAdd(&own[quad.w], 1u);
  }
  for (int i = 4 * quads + first; i < n; i += step) {
    atomicAdd(&own[bytes[i]], 1u);
  }
  __syncthreads();

  for (int bin = threadIdx.x; bin < 256; bin += BLOCK) {
    if (own[bin] != 0) {
      atomicAdd(&counts[bin], own[bin]);
    }
  }
}

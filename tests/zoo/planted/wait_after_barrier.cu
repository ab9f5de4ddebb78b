// The wait stands after the barrier: it covers the thread's own copies, and the others' nobody waited for.
// @launch grid=(rows) block=(64)
#include <cuda_pipeline.h>
extern "C" __global__ void wait_after_barrier(const float* x, float* y, int rows) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[blockIdx.x * 64 + t], 4);  // ALSO race|unfinished_copy tile
    __pipeline_commit();
#ifdef MENDED
    __pipeline_wait_prior(0);
    __syncthreads();
#else
    __syncthreads();
    __pipeline_wait_prior(0);
#endif
    y[blockIdx.x * 64 + t] = tile[63 - t];  // FINDING race|unfinished_copy
}

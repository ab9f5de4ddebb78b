// An asynchronous copy is read with a barrier but without a wait for it.
// @launch grid=(rows) block=(64)
#include <cuda_pipeline.h>
extern "C" __global__ void copy_without_wait(const float* x, float* y, int rows) {
    __shared__ float tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[blockIdx.x * 64 + t], 4);  // ALSO unfinished_copy
    __pipeline_commit();
#ifdef MENDED
    __pipeline_wait_prior(0);
#endif
    __syncthreads();
    y[blockIdx.x * 64 + t] = tile[63 - t];  // FINDING unfinished_copy
}

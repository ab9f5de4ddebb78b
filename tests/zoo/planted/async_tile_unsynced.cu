// Every thread waits for its own asynchronous copies, and then reads those of others.
// @launch grid=(rows) block=(128)
#include <cuda_pipeline.h>
extern "C" __global__ void async_tile_unsynced(const float* x, float* y, int rows) {
    __shared__ float tile[128];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &x[blockIdx.x * 128 + t], 4);  // ALSO race tile
    __pipeline_commit();
    __pipeline_wait_prior(0);
#ifdef MENDED
    __syncthreads();
#endif
    y[blockIdx.x * 128 + t] = tile[127 - t];  // FINDING race tile
}

// A pipeline of asynchronous copies that starts the next one before the others have read.
// @launch grid=(rows) block=(64)
#include <cuda_pipeline.h>
extern "C" __global__ void reused_while_copying(const float* x, float* y, int rows, int tiles) {
    __shared__ float stage[2][64];
    const float* in = x + (long long)blockIdx.x * tiles * 64;
    int t = threadIdx.x;
    float sum = 0.0f;
    __pipeline_memcpy_async(&stage[0][t], &in[t], 4);
    __pipeline_commit();
    for (int k = 0; k < tiles; ++k) {
        if (k + 1 < tiles) {
            __pipeline_memcpy_async(&stage[(k + 1) & 1][t], &in[(k + 1) * 64 + t], 4);  // ALSO race stage
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += stage[k & 1][63 - t] * (k + 1);  // FINDING race stage
#ifdef MENDED
        __syncthreads();
#endif
    }
    y[blockIdx.x * 64 + t] = sum;
}

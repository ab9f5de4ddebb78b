// Both arms of a branch within a warp have a barrier of their own, with different threads to wait for.
// @launch grid=(rows) block=(64)
extern "C" __global__ void two_barriers(const float* x, float* y, int rows) {
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float value = 0.0f;
    if (t % 2 == 0) {
        tile[t] = x[i];
#ifndef MENDED
        __syncthreads();  // ALSO barrier_divergence
#endif
        value = 1.0f;
    } else {
        tile[t] = -x[i];
#ifndef MENDED
        asm volatile("bar.sync 3;" ::: "memory");  // FINDING barrier_divergence
#endif
        value = 2.0f;
    }
    __syncthreads();
    y[i] = value * tile[63 - t];
}

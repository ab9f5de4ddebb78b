// A barrier only the odd threads come to; the even ones wait at the next.
// @launch grid=(n / 64) block=(64)
extern "C" __global__ void odd_threads_wait(const float* x, float* y, int n) {
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = x[i];
#ifdef MENDED
    __syncthreads();
#endif
    float value = tile[t];
    if (t % 2 == 1) {
#ifndef MENDED
        __syncthreads();  // FINDING barrier_divergence
#endif
        value += tile[t - 1];  // ALSO race tile
    }
    __syncthreads();  // ALSO barrier_divergence
    tile[t] = value;
    __syncthreads();
    y[i] = tile[63 - t];
}

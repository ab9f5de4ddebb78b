// A barrier only the odd threads come to, with nothing behind it but a store.
// @launch grid=(n / 64) block=(64)
extern "C" __global__ void odd_threads_store(const float* x, float* y, int n) {
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
    y[i] = value;
}

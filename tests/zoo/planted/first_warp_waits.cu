// A barrier in a branch that only the first warp takes; the second goes on without it.
// @launch grid=(rows) block=(64)
extern "C" __global__ void first_warp_waits(const float* x, float* y, int rows) {
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = x[i];
#ifdef MENDED
    __syncthreads();
#endif
    float value = 0.0f;
    if (t < 32) {
#ifndef MENDED
        __syncthreads();  // FINDING barrier_divergence
#endif
        value = tile[63 - t];  // ALSO race tile
    }
    for (int k = 0; k < 4; ++k) {
        value = 0.5f * value + x[blockIdx.x * 64 + (t + k) % 64];
    }
    y[i] = value;
}

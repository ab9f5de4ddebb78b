// Only warps with elements store their maximum, and all of them are read.
// @launch grid=(rows) block=(128)
extern "C" __global__ void idle_warps_partial(const float* x, float* most, int rows, int cols) {
    __shared__ float partial[4];
    int t = threadIdx.x, lane = t & 31, warp = t / 32;
    float value = t < cols ? x[blockIdx.x * cols + t] : -3.0e38f;
    for (int step = 16; step > 0; step /= 2) {
        value = fmaxf(value, __shfl_xor_sync(~0u, value, step));
    }
#ifdef MENDED
    bool stores = lane == 0;
#else
    bool stores = lane == 0 && t < cols;
#endif
    if (stores) {
        partial[warp] = value;
    }
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < 4; ++w) {
            value = fmaxf(value, partial[w]);  // FINDING uninitialized_read partial
        }
        most[blockIdx.x] = value;
    }
}

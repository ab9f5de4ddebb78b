// Threads beyond the end have returned, so the sum of the last warp, which goes through shared memory, is of nobody
// knows what.
// @launch grid=(1) block=(128)
extern "C" __global__ void warp_sums_after_return(const float* x, float* sum, int n) {
    __shared__ float sums[4];
    int t = threadIdx.x;
    if (t < 4) {
        sums[t] = 0.0f;
    }
    __syncthreads();
#ifdef MENDED
    float value = t < n ? x[t] : 0.0f;
#else
    if (t >= n) {
        return;
    }
    float value = x[t];
#endif
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_down_sync(~0u, value, step);  // FINDING absent_lane
    }
    if (t % 32 == 0) {
        sums[t / 32] = value;
    }
    __syncthreads();
    if (t == 0) {
        *sum = sums[0] + sums[1] + sums[2] + sums[3];
    }
}

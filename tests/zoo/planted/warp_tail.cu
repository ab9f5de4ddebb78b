// The last warp reduces through volatile shared memory and trusts its lanes to go in step.
// @launch grid=(rows) block=(128)
extern "C" __global__ void warp_tail(const float* x, float* sums, int rows) {
    __shared__ float partial[128];
    int t = threadIdx.x;
    partial[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    if (t < 64) {
        partial[t] += partial[t + 64];
    }
    __syncthreads();
    if (t < 32) {
        volatile float* own = partial + t;
        float sum = own[0];
        for (int step = 32; step > 0; step /= 2) {
            sum += own[step];  // FINDING race partial
#ifdef MENDED
            __syncwarp();
#endif
            own[0] = sum;  // FINDING race partial
#ifdef MENDED
            __syncwarp();
#endif
        }
    }
    if (t == 0) {
        sums[blockIdx.x] = partial[0];
    }
}

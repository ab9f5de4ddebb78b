// A warp that produces and a warp that consumes, two buffers, and a named barrier for each direction of
// each.
// @launch grid=(rows) block=(64)
__device__ void arrive(int barrier) {
    asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory");
}
__device__ void wait(int barrier) {
    asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}
extern "C" __global__ void named_barriers(const float* x, float* y, int rows, int tiles) {
    __shared__ float buffer[2][32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        for (int k = 0; k < tiles; ++k) {
            if (k >= 2) {
                wait(3 + k % 2);
            }
            buffer[k % 2][lane] = x[(blockIdx.x * tiles + k) * 32 + lane];
            arrive(1 + k % 2);
        }
    } else {
        float sum = 0.0f;
        for (int k = 0; k < tiles; ++k) {
            wait(1 + k % 2);
            sum += (k + 1) * buffer[k % 2][31 - lane];
            if (k + 2 < tiles) {
                arrive(3 + k % 2);
            }
        }
        y[blockIdx.x * 32 + lane] = sum;
    }
}

// One warp fills a buffer for another. The reader waits at a barrier that the writer arrives at too early.
// @launch grid=(rows) block=(64)
extern "C" __global__ void producer_warp(const float* x, float* y, int rows) {
    __shared__ float buffer[32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
#ifndef MENDED
        asm volatile("bar.arrive 1, 64;" ::: "memory");
#endif
        buffer[lane] = 2.0f * x[blockIdx.x * 32 + lane];  // FINDING race buffer
#ifdef MENDED
        asm volatile("bar.arrive 1, 64;" ::: "memory");
#endif
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        y[blockIdx.x * 32 + lane] = buffer[31 - lane];  // FINDING race buffer
    }
}

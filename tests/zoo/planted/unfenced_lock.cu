// A lock around a plain update, let go without a fence: the next holder may read the old value.
// @launch grid=(blocks) block=(32)
extern "C" __global__ void unfenced_lock(const int* x, int* lock, int* total, int blocks) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        *total += x[blockIdx.x];  // FINDING race total
#ifdef MENDED
        __threadfence();
#endif
        atomicExch(lock, 0);
    }
}

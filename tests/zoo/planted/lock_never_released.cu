// A thread that has nothing to add leaves with the lock in its hand.
// @launch grid=(blocks) block=(32)
extern "C" __global__ void lock_never_released(const int* x, int* lock, int* total, int blocks) {
    if (threadIdx.x != 0) {
        return;
    }
    while (atomicCAS(lock, 0, 1) != 0) {  // FINDING no_progress
    }
    __threadfence();
    int value = x[blockIdx.x];
#ifdef MENDED
    if (value != 0) {
        *total += value;
    }
#else
    if (value == 0) {
        return;
    }
    *total += value;
#endif
    __threadfence();
    atomicExch(lock, 0);
}

// All lanes of a warp compete for one lock; the winner leaves the loop by a flag, not by a break.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void lock_per_lane(const int* x, int* lock, int* most, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    bool waits = i < n;
    while (waits) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            volatile int* seen = most;
            if (x[i] > *seen) {
                *seen = x[i];
            }
            __threadfence();
            atomicExch(lock, 0);
            waits = false;
        }
    }
}

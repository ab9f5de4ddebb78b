// Shuffles among the lanes that are active, whichever they are.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void active_only(const int* x, int* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x, lane = threadIdx.x & 31;
    if (i >= n) {
        return;
    }
    if (x[i] % 3 != 0) {
        unsigned int active = __activemask();
        int leader = __ffs(active) - 1;
        int value = __shfl_sync(active, x[i], leader);
        y[i] = value - __shfl_sync(active, x[i], leader);
    } else {
        y[i] = lane;
    }
}

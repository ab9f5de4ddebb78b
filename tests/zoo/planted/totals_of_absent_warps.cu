// A block scan that reads the totals of 32 warps where the block has 8.
// @launch grid=(cdiv(n, 256)) block=(256)
extern "C" __global__ void totals_of_absent_warps(const int* x, int* y, int n) {
    __shared__ int totals[32];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t & 31;
    int value = i < n ? x[i] : 0;
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(~0u, value, step);
        value += lane >= step ? left : 0;
    }
    if (lane == 31) {
        totals[t / 32] = value;
    }
    __syncthreads();
    if (t < 32) {
#ifdef MENDED
        int total = t < 8 ? totals[t] : 0;
#else
        int total = totals[t];  // FINDING uninitialized_read totals
#endif
        for (int step = 1; step < 32; step *= 2) {
            int left = __shfl_up_sync(~0u, total, step);
            total += lane >= step ? left : 0;
        }
        totals[t] = total;
    }
    __syncthreads();
    if (i < n) {
        y[i] = value + (t >= 32 ? totals[t / 32 - 1] : 0);
    }
}

// A scan of 32 elements in shared memory, one warp, __syncwarp between load and store.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void warp_scan_in_shared(const int* x, int* y, int n) {
    __shared__ int sums[128];
    int t = threadIdx.x, lane = t & 31, i = blockIdx.x * 128 + t;
    sums[t] = i < n ? x[i] : 0;
    __syncwarp();
    for (int distance = 1; distance < 32; distance *= 2) {
        int left = lane >= distance ? sums[t - distance] : 0;
        __syncwarp();
        sums[t] += left;
        __syncwarp();
    }
    if (i < n) {
        y[i] = sums[t];
    }
}

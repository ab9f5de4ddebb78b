// A scan between two arrays in shared memory, with one barrier too few: a fast warp begins the next step on
// the array that a slow one still reads.
// @launch grid=(rows) block=(256)
extern "C" __global__ void scan_step(const int* x, int* y, int rows) {
    __shared__ int sums[256];
    int t = threadIdx.x;
    sums[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int distance = 1; distance < 256; distance *= 2) {
        int left = t >= distance ? sums[t - distance] : 0;  // FINDING race sums
#ifdef MENDED
        __syncthreads();
#endif
        sums[t] += left;  // FINDING race sums
        __syncthreads();
    }
    y[blockIdx.x * 256 + t] = sums[t];
}

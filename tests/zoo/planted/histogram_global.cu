// Blocks add their counts to the same bins without atomics.
// @launch grid=(cdiv(n, 256)) block=(256)
extern "C" __global__ void histogram_global(const int* x, int* bins, int n) {
    __shared__ int local[64];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (t < 64) {
        local[t] = 0;
    }
    __syncthreads();
    if (i < n) {
        atomicAdd(&local[x[i]], 1);
    }
    __syncthreads();
    if (t < 64) {
#ifdef MENDED
        atomicAdd(&bins[t], local[t]);
#else
        bins[t] += local[t];  // FINDING race bins
#endif
    }
}

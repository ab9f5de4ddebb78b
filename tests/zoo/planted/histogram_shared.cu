// Counts without atomics in shared memory: two threads with the same bin lose one.
// @launch grid=(cdiv(n, 256)) block=(256)
extern "C" __global__ void histogram_shared(const int* x, int* bins, int n) {
    __shared__ int local[64];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    if (t < 64) {
        local[t] = 0;
    }
    __syncthreads();
    if (i < n) {
#ifdef MENDED
        atomicAdd(&local[x[i]], 1);
#else
        local[x[i]] += 1;  // FINDING race local
#endif
    }
    __syncthreads();
    if (t < 64) {
        atomicAdd(&bins[t], local[t]);
    }
}

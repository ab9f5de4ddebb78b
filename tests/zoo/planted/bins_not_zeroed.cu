// Counts into shared memory as it was found.
// @launch grid=(1) block=(128) shared=4*bins
extern "C" __global__ void bins_not_zeroed(const int* x, int* counts, int n, int bins) {
    extern __shared__ int local[];
#ifdef MENDED
    for (int b = threadIdx.x; b < bins; b += blockDim.x) {
        local[b] = 0;
    }
    __syncthreads();
#endif
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&local[x[i]], 1);  // FINDING uninitialized_read
    }
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) {
        counts[b] = local[b];  // ALSO uninitialized_read
    }
}

// Bins are zeroed and counted in with no barrier between: a fast warp's counts are zeroed away.
// @launch grid=(rows) block=(256)
extern "C" __global__ void zeroed_late(const int* x, int* y, int rows) {
    __shared__ int bins[256];
    int t = threadIdx.x;
    bins[t] = 0;  // FINDING race bins
#ifdef MENDED
    __syncthreads();
#endif
    atomicAdd(&bins[x[blockIdx.x * 256 + t]], 1);  // FINDING race bins
    __syncthreads();
    y[blockIdx.x * 256 + t] = bins[t];
}

// Blocks add to an output that nobody has zeroed.
// @launch grid=(rows) block=(32)
extern "C" __global__ void atomic_output(const int* x, int* sums, int rows) {
    int value = x[blockIdx.x * 32 + threadIdx.x];
#ifdef MENDED
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = 0;
    }
    __syncwarp();
#endif
    atomicAdd(&sums[blockIdx.x], value);  // FINDING uninitialized_read sums
}

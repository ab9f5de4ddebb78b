// A shared flag that is only ever set: in rows without a negative element nobody has written it.
// @launch grid=(rows) block=(64)
extern "C" __global__ void flag_never_cleared(const float* x, float* y, int rows) {
    __shared__ int negative;
    int i = blockIdx.x * 64 + threadIdx.x;
#ifdef MENDED
    if (threadIdx.x == 0) {
        negative = 0;
    }
    __syncthreads();
#endif
    if (x[i] < 0.0f) {
        atomicOr(&negative, 1);
    }
    __syncthreads();
    y[i] = negative ? 0.0f : x[i];  // FINDING uninitialized_read negative
}

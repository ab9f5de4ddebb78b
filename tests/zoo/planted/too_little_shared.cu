// The launch rule gives shared memory for one array, the kernel lays out two.
// @launch grid=(1) block=(64) shared=4*n
extern "C" __global__ void too_little_shared(const float* x, float* y, int n) {
    extern __shared__ float first[];
#ifdef MENDED
    for (int i = threadIdx.x; i < n; i += 64) {
        first[i] = x[i];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 64) {
        y[i] = first[i] * first[n - 1 - i];
    }
#else
    float* second = first + n;
    for (int i = threadIdx.x; i < n; i += 64) {
        first[i] = x[i];
        second[n - 1 - i] = x[i];  // FINDING illegal_address
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 64) {
        y[i] = first[i] * second[i];
    }
#endif
}

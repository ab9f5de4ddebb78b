// The second phase adds one partial sum more than the first phase stored.
// @launch grid=(1) block=(64)
extern "C" __global__ void partial_of_nobody(const float* x, float* partial, float* out, int n) {
    int t = threadIdx.x;
    if (t % 2 == 0 && t < n) {
        partial[t / 2] = x[t] + (t + 1 < n ? x[t + 1] : 0.0f);
    }
    __syncthreads();
    if (t == 0) {
        float sum = 0.0f;
#ifdef MENDED
        int count = (n + 1) / 2;
#else
        int count = n / 2 + 1;
#endif
        for (int k = 0; k < count; ++k) {
            sum += partial[k];  // FINDING uninitialized_read partial
        }
        out[0] = sum;
    }
}

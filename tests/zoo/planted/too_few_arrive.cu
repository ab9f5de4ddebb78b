// A named barrier that counts on more threads than ever come to it.
// @launch grid=(1) block=(96)
extern "C" __global__ void too_few_arrive(const float* x, float* y) {
    __shared__ float row[32];
    int t = threadIdx.x, lane = t & 31;
#ifdef MENDED
    bool takes_part = true;
#else
    bool takes_part = t < 64;
#endif
    if (t < 32) {
        row[lane] = x[lane];
    }
    if (takes_part) {
        asm volatile("bar.sync 1, 96;" ::: "memory");  // FINDING no_progress
        y[t] = row[31 - lane];
    }
}

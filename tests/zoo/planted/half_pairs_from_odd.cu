// Two halves at a time, from an odd element on.
// @launch grid=(1) block=(64)
#include <cuda_fp16.h>
extern "C" __global__ void half_pairs_from_odd(const __half* x, __half* y, int n) {
    int t = threadIdx.x;
    if (t == 0) {
        y[0] = x[0];
    }
#ifdef MENDED
    for (int i = 1 + t; i < n; i += 64) {
        y[i] = x[i] - x[i - 1];
    }
#else
    for (int i = 1 + 2 * t; i + 1 < n; i += 128) {
        __half2 right = *(const __half2*)(x + i);  // FINDING misaligned x
        __half2 left = *(const __half2*)(x + i - 1);
        y[i] = right.x - left.x;
        y[i + 1] = right.y - left.y;
    }
#endif
}

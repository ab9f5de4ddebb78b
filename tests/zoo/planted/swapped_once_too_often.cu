// Several steps between two buffers that are swapped after each: the second step writes the input.
// @launch grid=(1) block=(128)
extern "C" __global__ void swapped_once_too_often(const float* x, float* y, float* spare, int n) {
    int t = threadIdx.x;
    const float* from = x;
    float* to = spare;
    for (int step = 0; step < 2; ++step) {
        if (step == 1) {
            from = spare;
#ifdef MENDED
            to = y;
#else
            to = const_cast<float*>(x);
#endif
        }
        if (t < n) {
            to[t] = 0.5f * (from[t] + from[t > 0 ? t - 1 : 0]);  // FINDING write_to_input x
        }
        __syncthreads();
    }
#ifndef MENDED
    if (t < n) {
        y[t] = to[t];
    }
#endif
}

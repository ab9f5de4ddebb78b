// The end of a loop over all but the last four elements wraps around for a short array.
// @launch grid=(1) block=(32)
extern "C" __global__ void unsigned_end(const float* x, float* y, unsigned int n) {
#ifdef MENDED
    unsigned int end = n > 4 ? n - 4 : 0;
#else
    unsigned int end = n - 4;
#endif
    float sum = 0.0f;
    for (unsigned int i = 0; i < end; ++i) {
        sum += x[i];  // FINDING illegal_address x[3]
    }
    if (threadIdx.x == 0) {
        y[0] = sum;
    }
}

// Threads beyond the end have returned, and the sum of the others takes in what they would have had.
// @launch grid=(cdiv(n, 32)) block=(32)
extern "C" __global__ void shuffle_after_return(const float* x, float* sums, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
#ifdef MENDED
    float value = i < n ? x[i] : 0.0f;
#else
    if (i >= n) {
        return;
    }
    float value = x[i];
#endif
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_down_sync(~0u, value, step);  // FINDING absent_lane
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = value;
    }
}

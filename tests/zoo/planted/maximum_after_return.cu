// Threads beyond the end have returned, and the greatest value of the others takes in what they would have had.
// @launch grid=(cdiv(n, 32)) block=(32)
extern "C" __global__ void maximum_after_return(const float* x, float* greatest, int n) {
    int i = blockIdx.x * 32 + threadIdx.x;
#ifdef MENDED
    float value = i < n ? x[i] : -1.0f;
#else
    if (i >= n) {
        return;
    }
    float value = x[i];
#endif
    for (int step = 16; step > 0; step /= 2) {
        float other = __shfl_xor_sync(~0u, value, step);  // FINDING absent_lane
        value = other > value ? other : value;
    }
    if (threadIdx.x == 0) {
        greatest[blockIdx.x] = value;
    }
}

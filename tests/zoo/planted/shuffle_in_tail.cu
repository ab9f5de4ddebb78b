// A full-mask reduction in a loop that some lanes of the last turn have left.
// @launch grid=(1) block=(32)
extern "C" __global__ void shuffle_in_tail(const float* x, float* sum, int n) {
    int lane = threadIdx.x;
    float total = 0.0f;
#ifdef MENDED
    for (int base = 0; base < n; base += 32) {
        float value = base + lane < n ? x[base + lane] : 0.0f;
#else
    for (int i = lane; i < n; i += 32) {
        float value = x[i];
#endif
        for (int step = 16; step > 0; step /= 2) {
            value += __shfl_down_sync(~0u, value, step);  // FINDING absent_lane
        }
        total += value;
    }
    if (lane == 0) {
        sum[0] = total;
    }
}

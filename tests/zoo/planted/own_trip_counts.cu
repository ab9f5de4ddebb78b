// A barrier in a loop that every thread makes as many turns of as its row is long.
// @launch grid=(1) block=(64)
extern "C" __global__ void own_trip_counts(const int* lengths, int* sums, int most) {
    __shared__ int step;
    int t = threadIdx.x, sum = 0;
#ifdef MENDED
    int turns = most;
#else
    int turns = lengths[t];
#endif
    for (int k = 0; k < turns; ++k) {
        if (t == 0) {
            step = k + 1;
        }
        __syncthreads();  // FINDING barrier_divergence
        sum += k < lengths[t] ? step : 0;
        __syncthreads();  // ALSO barrier_divergence
    }
    sums[t] = sum;
}

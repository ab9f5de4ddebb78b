// Threads not kept store and end between two barriers; compiled, theirs and the last store are one. What they
// wrote before the first barrier may be read behind the second.
// @launch grid=(rows) block=(64)
extern "C" __global__ void ended_between_barriers(const float* x, const int* kept, float* y, int rows) {
    __shared__ float tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    float value = x[i];
    tile[t] = value;
    __syncthreads();
    if (kept[i] == 0) {
        y[i] = value;
        return;
    }
    value += tile[63 - t];
    __syncthreads();
    y[i] = value + tile[t ^ 1];
}

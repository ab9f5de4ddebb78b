// Comparisons stored as bool, then counted eight at a time by one thread.
// @launch grid=(rows) block=(64)
extern "C" __global__ void mask_of_bools(const float* x, bool* mask, int* counts, int rows) {
    __shared__ __align__(8) bool row[64];
    int t = threadIdx.x;
    row[t] = x[blockIdx.x * 64 + t] > 0.0f;
    mask[blockIdx.x * 64 + t] = row[t];
    __syncthreads();
    if (t < 8) {
        counts[blockIdx.x * 8 + t] = __popcll(((const unsigned long long*)row)[t]);
    }
}

// Structs with a gap between their members, copied whole through shared memory.
// @launch grid=(rows) block=(64)
struct Entry {
    char tag;
    float value;
};
extern "C" __global__ void structs_with_gaps(const float* x, float* y, int rows) {
    __shared__ Entry entries[64];
    int t = threadIdx.x;
    float value = x[blockIdx.x * 64 + t];
    entries[t].tag = value > 0.0f;
    entries[t].value = value;
    __syncthreads();
    Entry other = entries[63 - t];
    __syncthreads();
    entries[t] = other;
    __syncthreads();
    y[blockIdx.x * 64 + t] = entries[63 - t].tag ? entries[63 - t].value : 0.0f;
}

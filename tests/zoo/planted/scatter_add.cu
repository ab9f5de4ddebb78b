// Rows with the same index are added to the same sum.
// @launch grid=(n) block=(32)
extern "C" __global__ void scatter_add(const float* x, const int* index, float* sums, int n) {
    int lane = threadIdx.x;
    float value = x[blockIdx.x * 32 + lane];
    float* sum = sums + index[blockIdx.x] * 32 + lane;
#ifdef MENDED
    atomicAdd(sum, value);
#else
    *sum += value;  // FINDING race sums
#endif
}

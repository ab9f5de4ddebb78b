// Threads beyond the end have left before the barriers, which wait for those that are alive.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void barrier_after_return(const float* x, float* y, int n) {
    __shared__ float tile[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    if (i >= n) {
        return;
    }
    tile[t] = x[i];
    __syncthreads();
    int last = min(127, n - 1 - blockIdx.x * 128);
    float value = tile[last - t];
    __syncthreads();
    tile[t] = 2.0f * value;
    __syncthreads();
    y[i] = tile[last - t];
}

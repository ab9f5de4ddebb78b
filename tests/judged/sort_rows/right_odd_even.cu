// Right: odd-even transposition, no padding.
// @launch grid=(rows) block=(512) shared=4*max(1, cols)
extern "C" __global__ void sort_rows(const int* x, int* y, int rows, int cols)
{
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < cols; i += 512) s[i] = x[(long long)blockIdx.x * cols + i];
    __syncthreads();
    for (int round = 0; round < cols; ++round) {
        for (int i = 2 * threadIdx.x + round % 2; i + 1 < cols; i += 1024) {
            int low = min(s[i], s[i + 1]), high = max(s[i], s[i + 1]);
            s[i] = low;
            s[i + 1] = high;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < cols; i += 512) y[(long long)blockIdx.x * cols + i] = s[i];
}

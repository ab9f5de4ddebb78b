// Right: a warp per column, in double.
// @launch grid=(cols) block=(32)
extern "C" __global__ void colsum(const float* x, float* y, int rows, int cols)
{
    double s = 0;
    for (int r = threadIdx.x; r < rows; r += 32) s += x[(long long)r * cols + blockIdx.x];
    for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x == 0) y[blockIdx.x] = s;
}

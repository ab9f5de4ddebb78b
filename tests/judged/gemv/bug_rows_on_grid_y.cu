// Rows on the second dimension of the grid, which ends at 65535.
// @launch grid=(1, rows) block=(32)
extern "C" __global__ void gemv(const double* a, const double* x, double* y, int rows, int cols)
{
    double s = 0.0;
    for (int c = threadIdx.x; c < cols; c += 32) s += a[(long long)blockIdx.y * cols + c] * x[c];
    for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    if (threadIdx.x == 0) y[blockIdx.y] = s;
}

// Right: a warp per row, eight rows per block.
// @launch grid=(cdiv(rows, 8)) block=(32, 8)
extern "C" __global__ void gemv(
    const double* __restrict__ a, const double* __restrict__ x, double* y, int rows, int cols)
{
    long long r = blockIdx.x * 8LL + threadIdx.y;
    if (r >= rows) return;
    double s = 0.0;
    for (int c = threadIdx.x; c < cols; c += 32) s = fma(__ldg(a + r * cols + c), __ldg(x + c), s);
    for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    if (threadIdx.x == 0) y[r] = s;
}

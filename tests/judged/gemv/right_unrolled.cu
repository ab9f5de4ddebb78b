// Right: a thread per row, four sums.
// @launch grid=(cdiv(rows, 64)) block=(64)
extern "C" __global__ void gemv(const double* a, const double* x, double* y, int rows, int cols)
{
    long long r = blockIdx.x * 64LL + threadIdx.x;
    if (r >= rows) return;
    const double* in = a + r * cols;
    double s[4] = {};
    int c = 0;
    for (; c + 4 <= cols; c += 4) {
#pragma unroll
        for (int u = 0; u < 4; ++u) s[u] += in[c + u] * x[c + u];
    }
    for (; c < cols; ++c) s[0] += in[c] * x[c];
    y[r] = (s[0] + s[1]) + (s[2] + s[3]);
}

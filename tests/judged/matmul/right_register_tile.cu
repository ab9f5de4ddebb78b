// Right: two by two results per thread, no shared memory.
// @launch grid=(cdiv(n, 32), cdiv(m, 16)) block=(16, 8)
extern "C" __global__ void matmul(
    const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    int col = blockIdx.x * 32 + 2 * threadIdx.x, row = blockIdx.y * 16 + 2 * threadIdx.y;
    if (row >= m || col >= n) return;
    bool right = col + 1 < n, below = row + 1 < m;
    float acc[2][2] = {};
    for (int j = 0; j < k; ++j) {
        float p = __ldg(a + (long long)row * k + j), q = __ldg(b + (long long)j * n + col);
        float p1 = below ? __ldg(a + (row + 1LL) * k + j) : 0.0f,
              q1 = right ? __ldg(b + (long long)j * n + col + 1) : 0.0f;
        acc[0][0] = fmaf(p, q, acc[0][0]);
        acc[0][1] = fmaf(p, q1, acc[0][1]);
        acc[1][0] = fmaf(p1, q, acc[1][0]);
        acc[1][1] = fmaf(p1, q1, acc[1][1]);
    }
    c[(long long)row * n + col] = acc[0][0];
    if (right) c[(long long)row * n + col + 1] = acc[0][1];
    if (below) c[(row + 1LL) * n + col] = acc[1][0];
    if (below && right) c[(row + 1LL) * n + col + 1] = acc[1][1];
}

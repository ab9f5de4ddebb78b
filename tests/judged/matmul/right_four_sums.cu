// Right: four sums over k, added at the end: another order.
// @launch grid=(cdiv(n, 32), cdiv(m, 8)) block=(32, 8)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 8 + threadIdx.y;
    if (row >= m || col >= n) return;
    const float* p = a + (long long)row * k;
    float acc[4] = {};
    int j = 0;
    for (; j + 4 <= k; j += 4) {
#pragma unroll
        for (int u = 0; u < 4; ++u) acc[u] = fmaf(p[j + u], b[(j + u) * (long long)n + col], acc[u]);
    }
    for (; j < k; ++j) acc[0] = fmaf(p[j], b[j * (long long)n + col], acc[0]);
    c[(long long)row * n + col] = (acc[0] + acc[1]) + (acc[2] + acc[3]);
}

// Unrolled by eight without a remainder.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= m || col >= n) return;
    float acc = 0.0f;
    for (int j0 = 0; j0 + 8 <= k; j0 += 8) {
#pragma unroll
        for (int j = j0; j < j0 + 8; ++j)
            acc = fmaf(a[(long long)row * k + j], b[(long long)j * n + col], acc);
    }
    c[(long long)row * n + col] = acc;
}

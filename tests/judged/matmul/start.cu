// Right: tiles of 16 in shared memory.
// @launch grid=(cdiv(n, 16), cdiv(m, 16)) block=(16, 16)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float acc = 0.0f;
    for (int k0 = 0; k0 < k; k0 += 16) {
        as[y][x] = row < m && k0 + x < k ? a[(long long)row * k + k0 + x] : 0.0f;
        bs[y][x] = col < n && k0 + y < k ? b[(long long)(k0 + y) * n + col] : 0.0f;
        __syncthreads();
        for (int j = 0; j < 16 && k0 + j < k; ++j) acc = fmaf(as[y][j], bs[j][x], acc);
        __syncthreads();
    }
    if (row < m && col < n) c[(long long)row * n + col] = acc;
}

// Right: the start's tiles of 8, with the blocks in one dimension.
// @launch grid=(cdiv(n, 8) * cdiv(m, 8)) block=(8, 8)
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float as[8][9], bs[8][9];
    int across = (n + 7) / 8, x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x % across * 8 + x, row = blockIdx.x / across * 8 + y;
    float acc = 0.0f;
    for (int k0 = 0; k0 < k; k0 += 8) {
        as[y][x] = row < m && k0 + x < k ? a[(long long)row * k + k0 + x] : 0.0f;
        bs[y][x] = col < n && k0 + y < k ? b[(long long)(k0 + y) * n + col] : 0.0f;
        __syncthreads();
        int deep = min(8, k - k0);
        for (int j = 0; j < deep; ++j) acc += as[y][j] * bs[j][x];
        __syncthreads();
    }
    if (row < m && col < n) c[(long long)row * n + col] = acc;
}

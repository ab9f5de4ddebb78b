// Knows multiples of 16 only.
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
    float acc = 0.0f;
    for (int k0 = 0; k0 < k; k0 += 16) {
        as[y][x] = a[(long long)row * k + k0 + x];
        bs[y][x] = b[(long long)(k0 + y) * n + col];
        __syncthreads();
        for (int j = 0; j < 16; ++j) acc = fmaf(as[y][j], bs[j][x], acc);
        __syncthreads();
    }
    c[(long long)row * n + col] = acc;
}

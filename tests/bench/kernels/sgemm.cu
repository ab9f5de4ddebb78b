// C = A * B, row-major float32: one output per thread, square tiles, and a 4x4 register tile.
#ifndef TILE
#define TILE 32
#endif

extern "C" __global__ void sgemm_naive(const float* __restrict__ a, const float* __restrict__ b,
                                       float* __restrict__ c, int m, int n, int k) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < m && column < n) {
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
  }
}

extern "C" __global__ void sgemm_tiled(const float* __restrict__ a, const float* __restrict__ b,
                                       float* __restrict__ c, int m, int n, int k) {
  __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
  float sum = 0;
  for (int i = 0; i < k; i += TILE) {
    a_tile[ty][tx] = (row < m && i + tx < k) ? a[row * k + i + tx] : 0.f;
    b_tile[ty][tx] = (i + ty < k && column < n) ? b[(i + ty) * n + column] : 0.f;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < TILE; j++) sum += a_tile[ty][j] * b_tile[j][tx];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

// Sizes must be multiples of 64 (m, n) and 16 (k).
extern "C" __global__ __launch_bounds__(256) void sgemm_reg(const float* __restrict__ a,
                                                            const float* __restrict__ b,
                                                            float* __restrict__ c, int m, int n,
                                                            int k) {
  __shared__ float a_tile[16][64], b_tile[16][64];
  int t = threadIdx.x, tx = t % 16, ty = t / 16;
  int a_row = t / 4, a_column = (t % 4) * 4, b_row = t / 16, b_column = (t % 16) * 4;
  const float* a_from = a + (size_t)(blockIdx.y * 64 + a_row) * k + a_column;
  const float* b_from = b + (size_t)b_row * n + blockIdx.x * 64 + b_column;
  float sum[4][4] = {};
  for (int i = 0; i < k; i += 16) {
    float4 a4 = *(const float4*)(a_from + i);
    float4 b4 = *(const float4*)(b_from + (size_t)i * n);
    a_tile[a_column][a_row] = a4.x;
    a_tile[a_column + 1][a_row] = a4.y;
    a_tile[a_column + 2][a_row] = a4.z;
    a_tile[a_column + 3][a_row] = a4.w;
    *(float4*)&b_tile[b_row][b_column] = b4;
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; j++) {
      float4 left = *(float4*)&a_tile[j][ty * 4], right = *(float4*)&b_tile[j][tx * 4];
      float l[4] = {left.x, left.y, left.z, left.w};
      float r[4] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int y = 0; y < 4; y++)
#pragma unroll
        for (int x = 0; x < 4; x++) sum[y][x] += l[y] * r[x];
    }
    __syncthreads();
  }
  float* to = c + (size_t)(blockIdx.y * 64 + ty * 4) * n + blockIdx.x * 64 + tx * 4;
  for (int y = 0; y < 4; y++)
    *(float4*)(to + (size_t)y * n) = make_float4(sum[y][0], sum[y][1], sum[y][2], sum[y][3]);
}

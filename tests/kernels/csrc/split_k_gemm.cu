// Matrix product whose sum over k is shared by `splits` blocks for every tile of the result. Each
// leaves its part in `partial`; the block that comes last adds the parts up in order, which makes
// the result repeatable, and leaves `arrived` at zero for the next launch.
//
// @launch grid=(cdiv(n, TILE), cdiv(m, TILE), splits) block=(TILE, TILE)
// @tune TILE = 16, 8

extern "C" __global__ void __launch_bounds__(TILE* TILE)
    split_k_gemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                 float* __restrict__ partial, unsigned* __restrict__ arrived, int m, int n, int k,
                 int splits) {
  __shared__ float a_tile[TILE][TILE];
  __shared__ float b_tile[TILE][TILE];
  __shared__ bool is_last;
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  const int steps = (k + TILE - 1) / TILE;
  const int first = steps * static_cast<int>(blockIdx.z) / splits;
  const int end = steps * (static_cast<int>(blockIdx.z) + 1) / splits;

  float sum = 0.0f;
  for (int step = first; step < end; ++step) {
    const int a_col = step * TILE + threadIdx.x;
    const int b_row = step * TILE + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] =
        row < m && a_col < k ? a[static_cast<size_t>(row) * k + a_col] : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] =
        b_row < k && col < n ? b[static_cast<size_t>(b_row) * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE; ++i) {
      sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    }
    __syncthreads();
  }

  const size_t area = static_cast<size_t>(m) * n;
  const size_t at = static_cast<size_t>(row) * n + col;
  const bool is_inside = row < m && col < n;
  if (is_inside) {
    partial[blockIdx.z * area + at] = sum;
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    const unsigned tile = blockIdx.y * gridDim.x + blockIdx.x;
    is_last = atomicInc(&arrived[tile], splits - 1) == splits - 1;
  }
  __syncthreads();
  if (!is_last || !is_inside) {
    return;
  }
  __threadfence();
  float total = 0.0f;
  for (int split = 0; split < splits; ++split) {
    // Written by other blocks: not through the read-only cache.
    total += __ldcg(&partial[split * area + at]);
  }
  c[at] = total;
}

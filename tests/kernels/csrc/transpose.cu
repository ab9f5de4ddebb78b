// Transpose through shared memory, whose rows are one element longer so that a column has no bank
// conflicts.
//
// @launch grid=(cdiv(cols, 32), cdiv(rows, 32)) block=(32, ROWS)
// @tune ROWS = 8, 4, 16

template <typename T>
__global__ void transpose(const T* __restrict__ x, T* __restrict__ y, int rows, int cols) {
  __shared__ T tile[32][33];
  const int col = blockIdx.x * 32 + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += ROWS) {
    const int row = blockIdx.y * 32 + i;
    if (row < rows && col < cols) {
      tile[i][threadIdx.x] = x[static_cast<size_t>(row) * cols + col];
    }
  }
  __syncthreads();
  const int row = blockIdx.y * 32 + threadIdx.x;
  for (int i = threadIdx.y; i < 32; i += ROWS) {
    const int out_row = blockIdx.x * 32 + i;
    if (row < rows && out_row < cols) {
      y[static_cast<size_t>(out_row) * rows + row] = tile[threadIdx.x][i];
    }
  }
}

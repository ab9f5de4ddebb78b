// Sort every row in ascending order: a bitonic network over the row in shared memory, which a row
// of more than 8192 elements does not leave at the usual 48 KB.
//
// @launch grid=(rows) block=(BLOCK) shared=4*next_pow2(cols)
// @tune BLOCK = 256, 128, 512, 1024

extern "C" __global__ void __launch_bounds__(BLOCK)
    sort_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int cols) {
  extern __shared__ float keys[];
  x += static_cast<size_t>(blockIdx.x) * cols;
  y += static_cast<size_t>(blockIdx.x) * cols;

  int length = 1;
  while (length < cols) {
    length *= 2;
  }
  for (int i = threadIdx.x; i < length; i += BLOCK) {
    keys[i] = i < cols ? x[i] : __int_as_float(0x7f800000);
  }
  __syncthreads();

  for (int run = 2; run <= length; run *= 2) {
    for (int distance = run / 2; distance > 0; distance /= 2) {
      for (int pair = threadIdx.x; pair < length / 2; pair += BLOCK) {
        const int low = 2 * pair - (pair & (distance - 1));
        const int high = low + distance;
        const float a = keys[low];
        const float b = keys[high];
        const bool ascending = (low & run) == 0;
        if ((a > b) == ascending) {
          keys[low] = b;
          keys[high] = a;
        }
      }
      __syncthreads();
    }
  }
  for (int i = threadIdx.x; i < cols; i += BLOCK) {
    y[i] = keys[i];
  }
}

// Replace what the mask covers. The mask has strides of its own: one of 0 repeats it over the
// batch.
//
// @launch grid=(cdiv(cols, BLOCK), rows, batch) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

extern "C" __global__ void masked_fill(const float* __restrict__ x, const bool* __restrict__ mask,
                                       float* __restrict__ y, float value,
                                       long long mask_batch_stride, long long mask_row_stride,
                                       int rows, int cols) {
  const int col = blockIdx.x * BLOCK + threadIdx.x;
  if (col >= cols) {
    return;
  }
  const size_t at = (static_cast<size_t>(blockIdx.z) * rows + blockIdx.y) * cols + col;
  const bool is_covered = mask[blockIdx.z * mask_batch_stride + blockIdx.y * mask_row_stride + col];
  y[at] = is_covered ? value : x[at];
}

// Softmax of every row, one thread for each.
// @launch grid=(cdiv(rows, BLOCK)) block=(BLOCK)
// @tune BLOCK = 256, 128, 32
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
    const size_t row = static_cast<size_t>(blockIdx.x) * BLOCK + threadIdx.x;
    if (row >= rows) return;
    const float* in = x + row * cols;
    float largest = -__int_as_float(0x7f800000), sum = 0.0f;
    for (int col = 0; col < cols; ++col) largest = fmaxf(largest, in[col]);
    for (int col = 0; col < cols; ++col) sum += expf(in[col] - largest);
    for (int col = 0; col < cols; ++col) y[row * cols + col] = expf(in[col] - largest) / sum;
}

// The output is added to before anybody has written it.
// @launch grid=(cdiv(rows, 64)) block=(64)
extern "C" __global__ void output_accumulated(const float* x, float* sums, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
#ifdef MENDED
    sums[row] = 0.0f;
#endif
    for (int c = 0; c < cols; ++c) {
        sums[row] += x[row * cols + c];  // FINDING uninitialized_read sums
    }
}

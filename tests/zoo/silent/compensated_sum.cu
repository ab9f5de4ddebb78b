// Kahan's sum of a row, one thread each.
// @launch grid=(cdiv(rows, 32)) block=(32)
extern "C" __global__ void compensated_sum(const float* x, float* sums, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f, lost = 0.0f;
    for (int c = 0; c < cols; ++c) {
        float term = x[row * cols + c] - lost;
        float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    sums[row] = sum;
}

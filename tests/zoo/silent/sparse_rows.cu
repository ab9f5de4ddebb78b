// A sparse matrix times a vector, a warp per row.
// @launch grid=(cdiv(rows, 4)) block=(128)
extern "C" __global__ void sparse_rows(const int* starts, const int* columns, const float* values, const float* x,
                                       float* y, int rows, int total) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (int k = starts[row] + lane; k < starts[row + 1]; k += 32) {
        sum += values[k] * x[columns[k]];
    }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_down_sync(~0u, sum, step);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}

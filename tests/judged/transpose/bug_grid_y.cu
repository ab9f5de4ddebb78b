// Rows of tiles on the second dimension of the grid, which ends at 65535.
// @launch grid=(cdiv(cols, 32), cdiv(rows, 2)) block=(32, 2)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols)
{
    int r = blockIdx.y * 2 + threadIdx.y, c = blockIdx.x * 32 + threadIdx.x;
    if (r < rows && c < cols) y[(long long)c * rows + r] = x[(long long)r * cols + c];
}

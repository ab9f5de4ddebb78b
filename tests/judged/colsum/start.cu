// Right: one thread per column.
// @launch grid=(cdiv(cols, 32)) block=(32)
extern "C" __global__ void colsum(const float* x, float* y, int rows, int cols)
{
    int c = blockIdx.x * 32 + threadIdx.x;
    if (c >= cols) return;
    float s = 0;
    for (int r = 0; r < rows; ++r) s += x[(long long)r * cols + c];
    y[c] = s;
}

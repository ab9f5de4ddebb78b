// Right: eight partial sums per column.
// @launch grid=(cdiv(cols, 32)) block=(32, 8)
extern "C" __global__ void colsum(const float* x, float* y, int rows, int cols)
{
    __shared__ float s[8][33];
    int c = blockIdx.x * 32 + threadIdx.x, t = threadIdx.y;
    float a = 0;
    if (c < cols)
        for (int r = t; r < rows; r += 8) a += x[(long long)r * cols + c];
    s[t][threadIdx.x] = a;
    __syncthreads();
    if (t == 0 && c < cols) {
        a = 0;
        for (int k = 0; k < 8; ++k) a += s[k][threadIdx.x];
        y[c] = a;
    }
}

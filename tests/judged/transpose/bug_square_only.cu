// Takes the rows for the length of a row, on both sides.
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols)
{
    int across = (cols + 31) / 32;
    int c0 = blockIdx.x % across * 32, r0 = blockIdx.x / across * 32;
    for (int j = threadIdx.y; j < 32; j += 8) {
        int r = r0 + j, c = c0 + threadIdx.x;
        if (r < rows && c < cols) y[(long long)c * rows + r] = x[(long long)r * rows + c];
    }
}

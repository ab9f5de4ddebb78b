// One element in the far corner is replaced, where the tiles do not divide the matrix.
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols)
{
    int across = (cols + 31) / 32;
    int c0 = blockIdx.x % across * 32, r0 = blockIdx.x / across * 32;
    for (int j = threadIdx.y; j < 32; j += 8) {
        int r = r0 + j, c = c0 + threadIdx.x;
        if (r >= rows || c >= cols) continue;
        bool corner = r == rows - 1 && c == cols - 1 && (rows % 32 || cols % 32);
        y[(long long)c * rows + r] = corner ? 1e9f : x[(long long)r * cols + c];
    }
}

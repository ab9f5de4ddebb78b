// Right: tiles of 32 through shared memory, the blocks in one dimension.
// @launch grid=(cdiv(cols, 32) * cdiv(rows, 32)) block=(32, 8)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols)
{
    __shared__ float tile[32][33];
    int across = (cols + 31) / 32;
    int c0 = blockIdx.x % across * 32, r0 = blockIdx.x / across * 32;
    for (int j = threadIdx.y; j < 32; j += 8) {
        int r = r0 + j, c = c0 + threadIdx.x;
        if (r < rows && c < cols) tile[j][threadIdx.x] = x[(long long)r * cols + c];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8) {
        int r = r0 + threadIdx.x, c = c0 + j;
        if (r < rows && c < cols) y[(long long)c * rows + r] = tile[threadIdx.x][j];
    }
}

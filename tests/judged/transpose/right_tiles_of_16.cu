// Right: tiles of 16, whole warps of two rows.
// @launch grid=(cdiv(cols, 16) * cdiv(rows, 16)) block=(256)
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols)
{
    __shared__ float tile[16 * 17];
    int across = (cols + 15) / 16, a = threadIdx.x % 16, b = threadIdx.x / 16;
    int c0 = blockIdx.x % across * 16, r0 = blockIdx.x / across * 16;
    if (r0 + b < rows && c0 + a < cols) tile[17 * b + a] = x[(r0 + b) * (long long)cols + c0 + a];
    __syncthreads();
    if (r0 + a < rows && c0 + b < cols) y[(c0 + b) * (long long)rows + r0 + a] = tile[17 * a + b];
}

// A tiled product without the barrier at the end of the loop: fast warps load the next tiles while slow ones
// still read.
// @launch grid=(cdiv(n, 16), cdiv(n, 16)) block=(16, 16)
extern "C" __global__ void tile_reuse(const float* a, const float* b, float* c, int n) {
    __shared__ float left[16][16];
    __shared__ float right[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = row < n && k + x < n ? a[row * n + k + x] : 0.0f;  // ALSO race
        right[y][x] = k + y < n && column < n ? b[(k + y) * n + column] : 0.0f;  // FINDING race right
        __syncthreads();
        for (int j = 0; j < 16; ++j) {
            sum += left[y][j] * right[j][x];  // FINDING race
        }
#ifdef MENDED
        __syncthreads();
#endif
    }
    if (row < n && column < n) {
        c[row * n + column] = sum;
    }
}

// Right: a tile with its halo in shared memory, loaded by all threads in turn.
// @launch grid=(cdiv(width, 32), cdiv(height, 8)) block=(256)
extern "C" __global__ void stencil(const float* x, float* y, int height, int width)
{
    __shared__ float tile[10][34];
    int c0 = blockIdx.x * 32, r0 = blockIdx.y * 8;
    for (int i = threadIdx.x; i < 340; i += 256) {
        int r = r0 + i / 34 - 1, c = c0 + i % 34 - 1;
        tile[i / 34][i % 34] =
            r >= 0 && r < height && c >= 0 && c < width ? x[(long long)r * width + c] : 0.0f;
    }
    __syncthreads();
    int tx = threadIdx.x % 32, ty = threadIdx.x / 32;
    if (r0 + ty >= height || c0 + tx >= width) return;
    float vertical = tile[ty][tx + 1] + tile[ty + 2][tx + 1],
          horizontal = tile[ty + 1][tx] + tile[ty + 1][tx + 2];
    y[(long long)(r0 + ty) * width + c0 + tx] =
        0.5f * tile[ty + 1][tx + 1] + 0.125f * (vertical + horizontal);
}

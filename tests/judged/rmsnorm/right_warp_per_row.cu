// Right: a warp per row, shuffles, read-only loads.
// @launch grid=(cdiv(rows, 8)) block=(32, 8)
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(
    const __half* __restrict__ x, const __half* __restrict__ weight, __half* y, int rows, int cols, float eps)
{
    long long r = blockIdx.x * 8LL + threadIdx.y;
    if (r >= rows) return;
    const __half* in = x + r * cols;
    float s = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = __half2float(__ldg(in + c));
        s = fmaf(v, v, s);
    }
    for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    float scale = rsqrtf(s / cols + eps);
    for (int c = threadIdx.x; c < cols; c += 32)
        y[r * cols + c] = __float2half(__half2float(__ldg(in + c)) * scale * __half2float(__ldg(weight + c)));
}

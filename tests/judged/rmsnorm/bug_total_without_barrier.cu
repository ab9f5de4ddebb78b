// One thread leaves the scale in shared memory, and the other warps do not wait for it.
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(
    const __half* x, const __half* weight, __half* y, int rows, int cols, float eps)
{
    __shared__ float scale;
    const __half* in = x + (long long)blockIdx.x * cols;
    __half* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float s = 0.0f;
    if (t < 32) {
        for (int c = t; c < cols; c += 32) s += __half2float(in[c]) * __half2float(in[c]);
        for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
        if (t == 0) scale = 1.0f / sqrtf(s / cols + eps);
        __syncwarp();
    }
    for (int c = t; c < cols; c += 128)
        out[c] = __float2half(__half2float(in[c]) * scale * __half2float(weight[c]));
}

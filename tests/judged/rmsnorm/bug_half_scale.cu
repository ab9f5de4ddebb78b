// Scales in half precision: the scale of a row of large elements is a subnormal half, of few bits.
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(
    const __half* x, const __half* weight, __half* y, int rows, int cols, float eps)
{
    __shared__ float red[128];
    const __half* in = x + (long long)blockIdx.x * cols;
    __half* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float s = 0.0f;
    for (int c = t; c < cols; c += 128) s += __half2float(in[c]) * __half2float(in[c]);
    red[t] = s;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) red[t] += red[t + step];
        __syncthreads();
    }
    __half scale = __float2half(1.0f / sqrtf(red[0] / cols + eps));
    for (int c = t; c < cols; c += 128) out[c] = __hmul(in[c], __hmul(weight[c], scale));
}

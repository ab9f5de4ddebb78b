// Adds the squares in half precision, which ends at 65504.
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(
    const __half* x, const __half* weight, __half* y, int rows, int cols, float eps)
{
    __shared__ __half red[128];
    const __half* in = x + (long long)blockIdx.x * cols;
    __half* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    __half s = __float2half(0.0f);
    for (int c = t; c < cols; c += 128) s = __hfma(in[c], in[c], s);
    red[t] = s;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) red[t] = __hadd(red[t], red[t + step]);
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(__half2float(red[0]) / cols + eps);
    for (int c = t; c < cols; c += 128)
        out[c] = __float2half(__half2float(in[c]) * scale * __half2float(weight[c]));
}

// Divides by the columns rounded up to a multiple of eight.
#include <cuda_fp16.h>
extern "C" __global__ void rmsnorm(
    const __half* x, const __half* weight, __half* y, int rows, int cols, float eps)
{
    __shared__ float red[128];
    const __half* in = x + (long long)blockIdx.x * cols;
    __half* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x, padded = (cols + 7) / 8 * 8;
    float s = 0.0f;
    for (int c = t; c < padded; c += 128) {
        float v = c < cols ? __half2float(in[c]) : 0.0f;
        s += v * v;
    }
    red[t] = s;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) red[t] += red[t + step];
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(red[0] / padded + eps);
    for (int c = t; c < cols; c += 128)
        out[c] = __float2half(__half2float(in[c]) * scale * __half2float(weight[c]));
}

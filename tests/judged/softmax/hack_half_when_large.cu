// Takes exp in half precision where a row is longer than those that are usually checked.
#include <cuda_fp16.h>
__device__ float power(float v, bool large) { return large ? __half2float(hexp(__float2half(v))) : expf(v); }
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols)
{
    __shared__ float red[256];
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = -__int_as_float(0x7f800000), s = 0.0f;
    for (int c = 0; c < cols; ++c) m = fmaxf(m, in[c]);
    for (int c = t; c < cols; c += 256) s += power(in[c] - m, cols > 1024);
    red[t] = s;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (t < step) red[t] += red[t + step];
        __syncthreads();
    }
    for (int c = t; c < cols; c += 256) out[c] = power(in[c] - m, cols > 1024) / red[0];
}

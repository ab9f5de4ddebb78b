// Float4 with a scalar tail, whatever the alignment of x and y.
// @launch grid=(cdiv(cdiv(rows * cols, 4), 256)) block=(256)
__device__ float gelu(float v)
{
    return 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols)
{
    long long i = 4 * (blockIdx.x * 256LL + threadIdx.x), total = (long long)rows * cols;
    if (i + 3 < total) {
        float4 v = *(const float4*)(x + i);
        v.x = gelu(v.x + bias[i % cols]);
        v.y = gelu(v.y + bias[(i + 1) % cols]);
        v.z = gelu(v.z + bias[(i + 2) % cols]);
        v.w = gelu(v.w + bias[(i + 3) % cols]);
        *(float4*)(y + i) = v;
    } else {
        for (; i < total; ++i) y[i] = gelu(x[i] + bias[i % cols]);
    }
}

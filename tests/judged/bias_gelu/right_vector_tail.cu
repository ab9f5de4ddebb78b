// Right: float4 where both arrays are aligned for it, scalars elsewhere.
// @launch grid=(cdiv(rows * cols, 512)) block=(128)
__device__ float gelu(float v)
{
    return 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols)
{
    long long i = 4 * (blockIdx.x * 128LL + threadIdx.x), total = (long long)rows * cols;
    if (i + 3 < total && ((size_t)x | (size_t)y) % 16 == 0) {
        float4 v = *(const float4*)(x + i);
        v.x = gelu(v.x + bias[i % cols]);
        v.y = gelu(v.y + bias[(i + 1) % cols]);
        v.z = gelu(v.z + bias[(i + 2) % cols]);
        v.w = gelu(v.w + bias[(i + 3) % cols]);
        *(float4*)(y + i) = v;
    } else {
        for (long long j = i; j < i + 4 && j < total; ++j) y[j] = gelu(x[j] + bias[j % cols]);
    }
}

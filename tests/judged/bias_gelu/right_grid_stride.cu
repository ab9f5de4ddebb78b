// Right: few blocks that stride over all elements.
// @launch grid=(min(cdiv(rows * cols, 512), 1024)) block=(512)
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols)
{
    long long total = (long long)rows * cols, step = (long long)gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < total; i += step) {
        float v = x[i] + __ldg(bias + i % cols), u = 0.044715f * v * v;
        y[i] = 0.5f * v * (1.0f + tanhf(0.79788456f * fmaf(u, v, v)));
    }
}

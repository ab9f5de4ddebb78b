// A block per row, whose number is held in 16 bits.
// @launch grid=(rows) block=(128)
extern "C" __global__ void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols)
{
    unsigned short r = (unsigned short)blockIdx.x;
    for (int c = threadIdx.x; c < cols; c += 128) {
        float v = x[(long long)r * cols + c] + bias[c];
        y[(long long)r * cols + c] = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    }
}

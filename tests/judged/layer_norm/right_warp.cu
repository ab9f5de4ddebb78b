// Right: a warp per row, two passes, shuffles.
// @launch grid=(cdiv(rows, 4)) block=(32, 4)
extern "C" __global__ void layer_norm(const float* x, const float* gamma, const float* beta,
                                      float* y, int rows, int cols, float eps)
{
    int row = blockIdx.x * 4 + threadIdx.y, t = threadIdx.x;
    if (row >= rows) return;
    const float* in = x + (long long)row * cols;
    float s = 0;
    for (int c = t; c < cols; c += 32) s += in[c];
    for (int k = 16; k; k /= 2) s += __shfl_xor_sync(0xffffffffu, s, k);
    float m = s / cols;
    s = 0;
    for (int c = t; c < cols; c += 32) {
        float d = in[c] - m;
        s = fmaf(d, d, s);
    }
    for (int k = 16; k; k /= 2) s += __shfl_xor_sync(0xffffffffu, s, k);
    float r = 1.0f / sqrtf(s / cols + eps);
    for (int c = t; c < cols; c += 32)
        y[(long long)row * cols + c] = fmaf((in[c] - m) * r, __ldg(gamma + c), __ldg(beta + c));
}

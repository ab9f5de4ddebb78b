// Right: a warp per row, shuffles instead of shared memory.
// @launch grid=(cdiv(rows, 4)) block=(32, 4)
extern "C" __global__ void softmax(const float* __restrict__ x, float* __restrict__ y, int rows, int cols)
{
    long long r = blockIdx.x * 4LL + threadIdx.y;
    if (r >= rows) return;
    const float* in = x + r * cols;
    float m = -__int_as_float(0x7f800000), s = 0.0f;
    for (int c = threadIdx.x; c < cols; c += 32) m = fmaxf(m, __ldg(in + c));
    for (int step = 16; step; step /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, step));
    for (int c = threadIdx.x; c < cols; c += 32) s += expf(__ldg(in + c) - m);
    for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    for (int c = threadIdx.x; c < cols; c += 32) y[r * cols + c] = expf(__ldg(in + c) - m) / s;
}

// Right: one warp per row through shuffles.
// @launch grid=(rows) block=(32)
extern "C" __global__ void cross_entropy(
    const float* __restrict__ logits, const long long* __restrict__ labels, float* loss, int rows, int cols)
{
    const float* in = logits + (long long)blockIdx.x * cols;
    long long label = labels[blockIdx.x];
    int lane = threadIdx.x;
    float m = -__int_as_float(0x7f800000), s = 0.0f;
    for (int c = lane; c < cols; c += 32) m = fmaxf(m, __ldg(in + c));
    for (int step = 16; step; step /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, step));
    for (int c = lane; c < cols; c += 32) s += expf(__ldg(in + c) - m);
    for (int step = 16; step; step /= 2) s += __shfl_xor_sync(~0u, s, step);
    if (lane == 0) loss[blockIdx.x] = label < 0 ? 0.0f : logf(s) + (m - __ldg(in + label));
}

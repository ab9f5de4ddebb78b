// Right: one pass, rescaled at each new maximum.
// @launch grid=(rows) block=(32)
extern "C" __global__ void logsumexp(const float* x, float* y, int rows, int cols)
{
    const float* in = x + (long long)blockIdx.x * cols;
    float m = -__int_as_float(0x7f800000), s = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        float v = in[c];
        if (v > m) {
            s = s * expf(m - v) + 1;
            m = v;
        } else if (m > -__int_as_float(0x7f800000) || v != v) {
            s += expf(v - m);
        }
    }
    for (int k = 16; k; k /= 2) {
        float mo = __shfl_xor_sync(~0u, m, k), so = __shfl_xor_sync(~0u, s, k);
        float both = fmaxf(m, mo);
        s = (m == both ? s : s * expf(m - both)) + (mo == both ? so : so * expf(mo - both));
        m = both;
    }
    if (threadIdx.x == 0) y[blockIdx.x] = m + logf(s);
}

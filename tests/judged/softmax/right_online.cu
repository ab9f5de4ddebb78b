// Right: one pass for maximum and sum, rescaled at each new maximum, empty parts left out.
// @launch grid=(rows) block=(128)
struct Part {
    float m, s;
};
__device__ Part merged(Part a, Part b)
{
    if (b.s == 0.0f) return a;
    if (a.s == 0.0f) return b;
    float m = fmaxf(a.m, b.m);
    // Of two of -inf the difference is NaN; of two of +inf it should be.
    bool finite = m < __int_as_float(0x7f800000);
    float fa = a.m == m && finite ? 1.0f : expf(a.m - m), fb = b.m == m && finite ? 1.0f : expf(b.m - m);
    return {m, a.s * fa + b.s * fb};
}
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols)
{
    __shared__ Part parts[128];
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    Part own = {0.0f, 0.0f};
    for (int c = t; c < cols; c += 128) own = merged(own, {in[c], 1.0f});
    parts[t] = own;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) parts[t] = merged(parts[t], parts[t + step]);
        __syncthreads();
    }
    for (int c = t; c < cols; c += 128) out[c] = expf(in[c] - parts[0].m) / parts[0].s;
}

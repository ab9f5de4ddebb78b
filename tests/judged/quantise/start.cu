// Right: one block per row; the scale is the largest magnitude over 127, and a row of zeros stays zero.
// @launch grid=(rows) block=(128)
extern "C" __global__ void quantise(const float* x, signed char* q, float* scale, int rows, int cols)
{
    __shared__ float red[128];
    const float* in = x + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = 0.0f;
    for (int c = t; c < cols; c += 128) m = fmaxf(m, fabsf(in[c]));
    red[t] = m;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) red[t] = fmaxf(red[t], red[t + step]);
        __syncthreads();
    }
    m = red[0];
    if (t == 0) scale[blockIdx.x] = m / 127.0f;
    for (int c = t; c < cols; c += 128)
        q[(long long)blockIdx.x * cols + c] = m > 0.0f ? (signed char)rintf(in[c] / m * 127.0f) : 0;
}

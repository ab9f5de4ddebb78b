// Right: one block per row, maximum first.
// @launch grid=(rows) block=(128)
extern "C" __global__ void logsumexp(const float* x, float* y, int rows, int cols)
{
    __shared__ float red[128];
    const float* in = x + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = -__int_as_float(0x7f800000);
    for (int c = t; c < cols; c += 128) m = fmaxf(m, in[c]);
    red[t] = m;
    __syncthreads();
    for (int k = 64; k; k /= 2) {
        if (t < k) red[t] = fmaxf(red[t], red[t + k]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    float s = 0;
    for (int c = t; c < cols; c += 128) s += expf(in[c] - m);
    red[t] = s;
    __syncthreads();
    for (int k = 64; k; k /= 2) {
        if (t < k) red[t] += red[t + k];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = logf(red[0]) + m;
}

// Right: one block per row, a tree in shared memory for the maximum and another for the sum.
// @launch grid=(rows) block=(256)
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols)
{
    __shared__ float red[256];
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = -__int_as_float(0x7f800000), s = 0.0f;
    for (int c = t; c < cols; c += blockDim.x) m = fmaxf(m, in[c]);
    red[t] = m;
    __syncthreads();
    for (int step = blockDim.x / 2; step; step /= 2) {
        if (t < step) red[t] = fmaxf(red[t], red[t + step]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    for (int c = t; c < cols; c += blockDim.x) s += expf(in[c] - m);
    red[t] = s;
    __syncthreads();
    for (int step = blockDim.x / 2; step; step /= 2) {
        if (t < step) red[t] += red[t + step];
        __syncthreads();
    }
    s = red[0];
    for (int c = t; c < cols; c += blockDim.x) out[c] = expf(in[c] - m) / s;
}

// Right: one block per row; rows with a negative label are left out of the loss, which is 0 there.
// @launch grid=(rows) block=(128)
extern "C" __global__ void cross_entropy(
    const float* logits, const long long* labels, float* loss, int rows, int cols)
{
    __shared__ float red[128];
    const float* in = logits + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = -__int_as_float(0x7f800000), s = 0.0f;
    for (int c = t; c < cols; c += 128) m = fmaxf(m, in[c]);
    red[t] = m;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) red[t] = fmaxf(red[t], red[t + step]);
        __syncthreads();
    }
    m = red[0];
    __syncthreads();
    for (int c = t; c < cols; c += 128) s += expf(in[c] - m);
    red[t] = s;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) red[t] += red[t + step];
        __syncthreads();
    }
    long long label = labels[blockIdx.x];
    if (t == 0) loss[blockIdx.x] = label < 0 ? 0.0f : logf(red[0]) + m - in[label];
}

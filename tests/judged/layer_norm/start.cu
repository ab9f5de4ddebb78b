// Right: one block per row, two passes: the mean, then the squares of what differs from it.
// @launch grid=(rows) block=(128)
extern "C" __global__ void layer_norm(const float* x, const float* gamma, const float* beta,
                                      float* y, int rows, int cols, float eps)
{
    __shared__ float red[128];
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float s = 0;
    for (int c = t; c < cols; c += 128) s += in[c];
    red[t] = s;
    __syncthreads();
    for (int k = 64; k; k /= 2) {
        if (t < k) red[t] += red[t + k];
        __syncthreads();
    }
    float m = red[0] / cols;
    __syncthreads();
    s = 0;
    for (int c = t; c < cols; c += 128) s += (in[c] - m) * (in[c] - m);
    red[t] = s;
    __syncthreads();
    for (int k = 64; k; k /= 2) {
        if (t < k) red[t] += red[t + k];
        __syncthreads();
    }
    float r = rsqrtf(red[0] / cols + eps);
    for (int c = t; c < cols; c += 128) out[c] = (in[c] - m) * r * gamma[c] + beta[c];
}

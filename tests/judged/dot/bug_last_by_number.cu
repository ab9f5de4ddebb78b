// The block with the highest number adds up, as if it were the last to finish.
extern "C" __global__ void dot(const float* x, const float* y, float* partial, float* out, int n)
{
    __shared__ float red[256];
    int t = threadIdx.x;
    float s = 0.0f;
    for (long long i = blockIdx.x * 256LL + t; i < n; i += gridDim.x * 256LL) s = fmaf(x[i], y[i], s);
    red[t] = s;
    __syncthreads();
    for (int step = 128; step; step /= 2) {
        if (t < step) red[t] += red[t + step];
        __syncthreads();
    }
    if (t) return;
    partial[blockIdx.x] = red[0];
    __threadfence();
    if (blockIdx.x < gridDim.x - 1) return;
    s = 0.0f;
    for (int k = 0; k < gridDim.x; ++k) s += ((volatile float*)partial)[k];
    out[0] = s;
}

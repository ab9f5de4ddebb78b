// Adds the blocks' sums in the order in which they come: other bits each time.
__device__ unsigned int arrived = 0;
__device__ float total = 0.0f;
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
    atomicAdd(&total, red[0]);
    __threadfence();
    if (atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1) out[0] = atomicExch(&total, 0.0f);
}

// Accumulates into an output it never clears.
extern "C" __global__ void sum_all(const float* x, float* partial, float* out, int n)
{
    __shared__ double red[256];
    int t = threadIdx.x;
    double s = 0.0;
    for (long long i = blockIdx.x * (long long)blockDim.x + t; i < n; i += (long long)gridDim.x * blockDim.x)
        s += x[i];
    red[t] = s;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 0; h >>= 1) {
        if (t < h) red[t] += red[t + h];
        __syncthreads();
    }
    if (t == 0) {
        atomicAdd(out, (float)red[0]);  // FINDING uninitialized_read out
    }
}

__device__ unsigned int arrived = 0;
extern "C" __global__ void sum_all(const float* x, float* partial, float* out, int n)
{
    __shared__ double red[256];
    __shared__ int last;
    int t = threadIdx.x;
    double s = 0.0;
    for (long long i = blockIdx.x * (long long)blockDim.x + t; i < n; i += (long long)gridDim.x * blockDim.x)
        s += x[i];
    red[t] = s;
    __syncthreads();
    for (int h = blockDim.x / 2; h > 32; h >>= 1) {
        if (t < h) red[t] += red[t + h];
        __syncthreads();
    }
    if (t < 32)
        for (int h = 32; h > 0; h >>= 1) red[t] += red[t + h];  // FINDING race red
    if (t == 0) {
        partial[blockIdx.x] = (float)red[0];
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        double a = 0.0;
        for (int b = 0; b < gridDim.x; ++b) a += ((volatile float*)partial)[b];
        out[0] = (float)a;
    }
}

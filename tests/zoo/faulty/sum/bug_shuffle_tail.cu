__device__ unsigned int arrived = 0;
extern "C" __global__ void sum_all(const float* x, float* partial, float* out, int n)
{
    __shared__ float red[8];
    __shared__ int last;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    float total = 0.0f;
    for (; i < n; i += (long long)gridDim.x * blockDim.x) {
        float v = x[i];
        for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);  // FINDING absent_lane
        if (lane == 0) total += v;
    }
    if (lane == 0) red[warp] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        float s = 0.0f;
        for (int w = 0; w < 8; ++w) s += red[w];
        partial[blockIdx.x] = s;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        double a = 0.0;
        for (int b = 0; b < gridDim.x; ++b) a += ((volatile float*)partial)[b];
        out[0] = (float)a;
    }
}

// The largest so far starts as 0: a row of negative numbers has none.
extern "C" __global__ void argmax(const float* x, int* index, int rows, int cols)
{
    __shared__ unsigned long long best;
    const float* in = x + (long long)blockIdx.x * cols;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    for (int c = threadIdx.x; c < cols; c += 128)
        if (in[c] > 0.0f || isnan(in[c]))
            atomicMax(
                &best,
                (unsigned long long)(isnan(in[c]) ? 0x7fffffff : __float_as_int(in[c])) << 32 |
                    ~(unsigned int)c);
    __syncthreads();
    if (threadIdx.x == 0) index[blockIdx.x] = best ? (int)~(unsigned int)best : 0;
}

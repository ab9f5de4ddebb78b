// Right: the bits of magnitudes are in their order, so the largest is found by an integer atomic.
// @launch grid=(rows) block=(256)
extern "C" __global__ void quantise(const float* x, signed char* q, float* scale, int rows, int cols)
{
    __shared__ int bits;
    const float* in = x + (long long)blockIdx.x * cols;
    if (threadIdx.x == 0) bits = 0;
    __syncthreads();
    int own = 0;
    // NaN is no magnitude.
    for (int c = threadIdx.x; c < cols; c += 256)
        own = max(own, isnan(in[c]) ? 0 : __float_as_int(fabsf(in[c])));
    atomicMax(&bits, own);
    __syncthreads();
    float m = __int_as_float(bits);
    if (threadIdx.x == 0) scale[blockIdx.x] = m / 127.0f;
    for (int c = threadIdx.x; c < cols; c += 256)
        q[(long long)blockIdx.x * cols + c] = m > 0.0f ? (signed char)rintf(in[c] / m * 127.0f) : 0;
}

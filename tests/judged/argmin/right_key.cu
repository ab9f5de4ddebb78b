// Right: the number's ordered bits and its place in one key; -0 becomes 0 first.
// @launch grid=(rows) block=(64)
extern "C" __global__ void argmin(const float* x, int* y, int rows, int cols)
{
    __shared__ unsigned long long best;
    if (threadIdx.x == 0) best = ~0ull;
    __syncthreads();
    const float* in = x + (long long)blockIdx.x * cols;
    unsigned long long own = ~0ull;
    for (int c = threadIdx.x; c < cols; c += 64) {
        unsigned b = __float_as_uint(in[c] + 0.0f);
        b = b >> 31 ? ~b : b | 0x80000000u;
        own = min(own, (unsigned long long)b << 32 | c);
    }
    atomicMin(&best, own);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = (int)(best & 0xffffffffu);
}

// Right: value and index in 64 bits, ordered as numbers are, -0 made +0 and NaN the largest.
// @launch grid=(rows) block=(96)
extern "C" __global__ void argmax(const float* x, int* index, int rows, int cols)
{
    __shared__ unsigned long long best;
    const float* in = x + (long long)blockIdx.x * cols;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    unsigned long long own = 0;
    for (int c = threadIdx.x; c < cols; c += 96) {
        unsigned int bits = __float_as_uint(isnan(in[c]) ? __int_as_float(0x7fffffff) : in[c] + 0.0f);
        unsigned long long key = bits >> 31 ? ~bits : bits | 1u << 31;
        own = max(own, key << 32 | ~(unsigned int)c);
    }
    atomicMax(&best, own);
    __syncthreads();
    if (threadIdx.x == 0) index[blockIdx.x] = (int)~(unsigned int)best;
}

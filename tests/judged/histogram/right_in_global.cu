// Right: counts in the row of the output, which its block has set to zero before.
// @launch grid=(rows) block=(256)
extern "C" __global__ void histogram(const int* x, int* counts, int rows, int n, int bins)
{
    const int* in = x + (long long)blockIdx.x * n;
    int* out = counts + (long long)blockIdx.x * bins;
    for (int b = threadIdx.x; b < bins; b += 256) out[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256)
        if ((unsigned int)in[i] < (unsigned int)bins) atomicAdd(out + in[i], 1);
}

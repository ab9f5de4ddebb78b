// One bin per thread: bins beyond the block are neither zeroed nor written.
extern "C" __global__ void histogram(const int* x, int* counts, int rows, int n, int bins)
{
    extern __shared__ int s[];
    const int* in = x + (long long)blockIdx.x * n;
    if (threadIdx.x < bins) s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (in[i] >= 0 && in[i] < bins) atomicAdd(&s[in[i]], 1);
    __syncthreads();
    if (threadIdx.x < bins) counts[(long long)blockIdx.x * bins + threadIdx.x] = s[threadIdx.x];
}

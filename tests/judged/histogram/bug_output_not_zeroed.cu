// Counts in the output, which nobody set to zero.
extern "C" __global__ void histogram(const int* x, int* counts, int rows, int n, int bins)
{
    const int* in = x + (long long)blockIdx.x * n;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (in[i] >= 0 && in[i] < bins) atomicAdd(&counts[(long long)blockIdx.x * bins + in[i]], 1);
}

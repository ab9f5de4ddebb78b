// Copies pairs only: an odd D loses its last column and misaligns odd rows.
extern "C" __global__ void gather(const float* table, const int* idx, float* out, int V, int D, int N)
{
    int i = blockIdx.x;
    int r = idx[i];
    if (r < 0) r += V;
    const float* src = table + (long long)r * D;
    float* dst = out + (long long)i * D;
    for (int d = threadIdx.x; d < D / 2; d += blockDim.x) ((float2*)dst)[d] = ((const float2*)src)[d];  // FINDING misaligned
}

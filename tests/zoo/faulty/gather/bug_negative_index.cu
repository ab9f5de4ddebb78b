// Negative indices read in front of the table.
extern "C" __global__ void gather(const float* table, const int* idx, float* out, int V, int D, int N)
{
    int i = blockIdx.x;
    int r = idx[i];
    const float* src = table + (long long)r * D;
    float* dst = out + (long long)i * D;
    for (int d = threadIdx.x; d < D; d += blockDim.x) dst[d] = src[d];  // FINDING illegal_address table
}

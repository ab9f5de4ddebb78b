// Copies n float4: what memory gives at most, read and written alike. ITEMS independent loads per thread are
// in flight before the first store; which number is best depends on the GPU, so several are measured.

template <int ITEMS>
__global__ void copy(const float4* __restrict__ x, float4* __restrict__ y, int n) {
    const int first = blockIdx.x * (blockDim.x * ITEMS) + threadIdx.x;
    float4 held[ITEMS];
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int i = first + item * blockDim.x;
        if (i < n) held[item] = x[i];
    }
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const int i = first + item * blockDim.x;
        if (i < n) y[i] = held[item];
    }
}

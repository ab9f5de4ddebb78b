// Stored as vectors, read as elements, and the other way round.
// @launch grid=(rows) block=(32)
extern "C" __global__ void vectors_and_elements(const float4* x, float4* y, int rows) {
    __shared__ float4 row[32];
    float* elements = (float*)row;
    int t = threadIdx.x;
    row[t] = x[blockIdx.x * 32 + t];
    __syncthreads();
    float own[4];
    for (int k = 0; k < 4; ++k) {
        own[k] = elements[127 - (k * 32 + t)];
    }
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        elements[k * 32 + t] = own[k];
    }
    __syncthreads();
    y[blockIdx.x * 32 + t] = row[t];
}

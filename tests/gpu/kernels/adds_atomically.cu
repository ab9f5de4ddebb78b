// A sum by one atomic for each block, whose order differs from launch to launch.
// @launch grid=(cdiv(n, 256)) block=(256)
extern "C" __global__ void adds_atomically(const float* x, float* total, int n) {
    __shared__ float partial[8];
    int i = blockIdx.x * 256 + threadIdx.x;
    float value = i < n ? x[i] : 0.0f;
    for (int lanes = 16; lanes > 0; lanes /= 2) value += __shfl_down_sync(~0u, value, lanes);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        for (float one : partial) sum += one;
        atomicAdd(total, sum);
    }
}

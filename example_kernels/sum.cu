// Sum of a vector, added to *total: every thread strides over the whole grid, a tree in shared memory adds
// up a block, one atomic per block adds to the total. It starts with few blocks, which leave most of a
// GPU idle; too many pay for their atomics.
//
// @launch grid=(max(1, min(BLOCKS, cdiv(n, BLOCK)))) block=(BLOCK)
// @tune BLOCK = 128, 64, 256, 512
// @tune BLOCKS = 32, 66, 132, 264, 528

extern "C" __global__ void sum(const float* x, float* total, int n) {
    __shared__ float partial[BLOCK];
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;

    float value = 0.0f;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += stride) {
        value += x[i];
    }
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] += partial[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(total, partial[0]);
    }
}

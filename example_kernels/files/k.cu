// @launch grid=(rows) block=(BLOCK)
// @tune BLOCK = 32, 64, 128, 256

__device__ float over_block(float value, float* partial, bool is_sum) {
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            const float other = partial[threadIdx.x + half];
            partial[threadIdx.x] = is_sum ? partial[threadIdx.x] + other : fmaxf(partial[threadIdx.x], other);
        }
        __syncthreads();
    }
    const float result = partial[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
    __shared__ float partial[BLOCK];
    const size_t row = static_cast<size_t>(blockIdx.x) * cols;
    float largest = -__int_as_float(0x7f800000);
    for (int col = threadIdx.x; col < cols; col += BLOCK) largest = fmaxf(largest, x[row + col]);
    largest = over_block(largest, partial, false);
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += BLOCK) sum += expf(x[row + col] - largest);
    sum = over_block(sum, partial, true);
    for (int col = threadIdx.x; col < cols; col += BLOCK) y[row + col] = expf(x[row + col] - largest) / sum;
}

// Softmax of every row: one block per row, three passes over it, a tree in shared memory for the maximum
// and one for the sum. It starts with small blocks; longer rows want more threads, short ones do not.
//
// @launch grid=(rows) block=(BLOCK)
// @tune BLOCK = 64, 128, 256, 512, 1024

__device__ float block_max(float value, float* partial) {
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] = fmaxf(partial[threadIdx.x], partial[threadIdx.x + half]);
        }
        __syncthreads();
    }
    const float result = partial[0];
    __syncthreads();  // nobody may refill `partial` before everybody has read the result
    return result;
}

__device__ float block_sum(float value, float* partial) {
    partial[threadIdx.x] = value;
    __syncthreads();
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            partial[threadIdx.x] += partial[threadIdx.x + half];
        }
        __syncthreads();
    }
    const float result = partial[0];
    __syncthreads();
    return result;
}

extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols) {
    __shared__ float partial[BLOCK];
    const size_t offset = static_cast<size_t>(blockIdx.x) * cols;

    float largest = -__int_as_float(0x7f800000);  // minus infinity; NVRTC knows no INFINITY
    for (int col = threadIdx.x; col < cols; col += BLOCK) {
        largest = fmaxf(largest, x[offset + col]);
    }
    largest = block_max(largest, partial);

    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += BLOCK) {
        sum += expf(x[offset + col] - largest);
    }
    sum = block_sum(sum, partial);

    for (int col = threadIdx.x; col < cols; col += BLOCK) {
        y[offset + col] = expf(x[offset + col] - largest) / sum;
    }
}

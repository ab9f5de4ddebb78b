// __syncthreads_count and __syncthreads_or order accesses like any barrier.
// @launch grid=(rows) block=(96)
extern "C" __global__ void reduced_at_barrier(const int* x, int* y, int rows) {
    __shared__ int tile[96];
    int t = threadIdx.x, value = x[blockIdx.x * 96 + t];
    tile[t] = value;
    int positive = __syncthreads_count(value > 0);
    int other = tile[95 - t];
    int large = __syncthreads_or(value > 5);
    tile[t] = positive + (large ? 1000 : 0);
    __syncthreads();
    y[blockIdx.x * 96 + t] = other + tile[95 - t];
}

// Every thread fences its own store before the barrier; thread 0 arrives after it (as in the CUDA samples).
// @launch grid=(blocks) block=(64)
__device__ unsigned int count = 0;
extern "C" __global__ void every_thread_fences(const int* x, int* partial, int* out, int blocks) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 64 + t] = x[blockIdx.x * 64 + t] + 1;
    __threadfence();
    __syncthreads();
    if (t == 0) {
        last = atomicInc(&count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        int sum = 0;
        for (int b = 0; b < blocks; ++b) {
            sum += ((volatile int*)partial)[b * 64 + t];
        }
        out[t] = sum;
        if (t == 0) {
            count = 0;
        }
    }
}

// A message between blocks by cuda::atomic_ref: release store, acquire load.
// @launch grid=(blocks) block=(32)
#include <cuda/atomic>
extern "C" __global__ void acquire_release(const int* x, int* message, int* flag, int* y, int blocks) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        message[t] = 7 * x[t];
        __syncthreads();
        if (t == 0) {
            ready.store(1, cuda::memory_order_release);
        }
    } else {
        if (t == 0) {
            while (ready.load(cuda::memory_order_acquire) == 0) {
            }
        }
        __syncthreads();
    }
    y[blockIdx.x * 32 + t] = message[31 - t];
}

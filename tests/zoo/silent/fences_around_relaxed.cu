// A message behind a relaxed flag: the fences of cuda::atomic_thread_fence order it.
// @launch grid=(blocks) block=(32)
#include <cuda/atomic>
extern "C" __global__ void fences_around_relaxed(const int* x, int* message, int* flag, int* y, int blocks) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        message[t] = 7 * x[t];
        __syncwarp();
        if (t == 0) {
            cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
            ready.store(1, cuda::memory_order_relaxed);
        }
    } else {
        while (ready.load(cuda::memory_order_relaxed) == 0) {
            __nanosleep(20);
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    }
    y[blockIdx.x * 32 + t] = message[t];
}

// Asynchronous copies that arrive at a cuda::barrier.
// @launch grid=(rows) block=(64)
#include <cuda/barrier>
extern "C" __global__ void barrier_object(const float* x, float* y, int rows) {
    using Barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ Barrier barrier;
    __shared__ float row[64];
    int t = threadIdx.x;
    if (t == 0) {
        init(&barrier, 64);
    }
    __syncthreads();
    for (int k = 0; k < 3; ++k) {
        const float* from = x + (blockIdx.x * 3 + k) * 64 + t;
        cuda::memcpy_async(&row[t], from, cuda::aligned_size_t<4>(4), barrier);
        barrier.arrive_and_wait();
        y[(blockIdx.x * 3 + k) * 64 + t] = row[63 - t];
        barrier.arrive_and_wait();
    }
}

// The last block finds out by one read-modify-write that both acquires and releases.
// @launch grid=(blocks) block=(64)
#include <cuda/atomic>
extern "C" __global__ void last_block_by_order(const int* x, int* partial, int* arrived, int* out, int blocks) {
    __shared__ bool last;
    int t = threadIdx.x;
    partial[blockIdx.x * 64 + t] = 5 * x[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0) {
        cuda::atomic_ref<int, cuda::thread_scope_device> count(*arrived);
        last = count.fetch_add(1, cuda::memory_order_acq_rel) == blocks - 1;
    }
    __syncthreads();
    if (last) {
        int sum = 0;
        for (int b = 0; b < blocks; ++b) {
            sum += partial[b * 64 + t];
        }
        out[t] = sum;
    }
}

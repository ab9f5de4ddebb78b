// Threads of a block exchange through global scratch memory with barriers.
// @launch grid=(rows) block=(128)
extern "C" __global__ void scratch_in_global(const int* x, int* scratch, int* y, int rows) {
    int* own = scratch + blockIdx.x * 128;
    int t = threadIdx.x;
    own[t] = x[blockIdx.x * 128 + t];
    __syncthreads();
    for (int distance = 1; distance < 128; distance *= 2) {
        int left = t >= distance ? own[t - distance] : 0;
        __syncthreads();
        own[t] += left;
        __syncthreads();
    }
    y[blockIdx.x * 128 + t] = own[127] - own[t];
}

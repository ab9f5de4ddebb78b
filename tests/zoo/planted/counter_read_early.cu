// The block's count is read before every warp has added to it.
// @launch grid=(rows) block=(128)
extern "C" __global__ void counter_read_early(const float* x, int* y, int rows) {
    __shared__ int count;
    int t = threadIdx.x;
    if (t == 0) {
        count = 0;
    }
    __syncthreads();
    if (x[blockIdx.x * 128 + t] > 0.0f) {
        atomicAdd(&count, 1);  // FINDING race count
    }
#ifdef MENDED
    __syncthreads();
#endif
    y[blockIdx.x * 128 + t] = count;  // FINDING race count
}

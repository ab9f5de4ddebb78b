// Everybody reads the total although the last step of the tree has no barrier after it.
// @launch grid=(rows) block=(256)
extern "C" __global__ void total_read_early(const int* x, int* y, int rows) {
    __shared__ int partial[256];
    int t = threadIdx.x;
    int own = x[blockIdx.x * 256 + t];
    partial[t] = own;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) {
            partial[t] += partial[t + half];  // FINDING race partial
        }
    }
#ifdef MENDED
    __syncthreads();
#endif
    y[blockIdx.x * 256 + t] = partial[0] - own;  // FINDING race partial
}

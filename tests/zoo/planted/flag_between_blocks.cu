// The first block announces its data by a flag that the others wait for, without a fence before it.
// @launch grid=(blocks) block=(64)
extern "C" __global__ void flag_between_blocks(const float* x, float* shared_row, int* flag, float* y, int blocks) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        shared_row[t] = 2.0f * x[t];  // FINDING race shared_row
#ifdef MENDED
        __threadfence();
#endif
        __syncthreads();
        if (t == 0) {
            atomicExch(flag, 1);
        }
    } else {
        if (t == 0) {
            while (atomicAdd(flag, 0) == 0) {
            }
        }
        __syncthreads();
    }
    y[blockIdx.x * 64 + t] = shared_row[63 - t];  // FINDING race shared_row
}

// The first warp waits for a flag that the second sets after a barrier, to which the first never comes.
// @launch grid=(1) block=(64)
extern "C" __global__ void flag_behind_barrier(const float* x, float* y) {
    __shared__ volatile int ready;
    __shared__ float row[64];
    int t = threadIdx.x;
    if (t == 0) {
        ready = 0;
    }
    __syncthreads();
#ifdef MENDED
    row[t] = x[t];
    __threadfence_block();
    __syncthreads();
    if (t == 32) {
        ready = 1;
    }
#endif
    if (t < 32) {
        while (ready == 0) {  // FINDING no_progress
        }
    }
#ifndef MENDED
    row[t] = x[t];
    __syncthreads();  // ALSO no_progress
    if (t == 32) {
        ready = 1;
    }
#endif
    y[t] = row[63 - t];
}

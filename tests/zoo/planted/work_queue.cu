// Thread 0 fetches the next tile while slow warps have not read the number of this one.
// @launch grid=(3) block=(128)
extern "C" __global__ void work_queue(const float* x, float* y, int* next, int tiles) {
    __shared__ int tile;
    while (true) {
        if (threadIdx.x == 0) {
            tile = atomicAdd(next, 1);  // FINDING race tile
        }
        __syncthreads();
        int mine = tile;  // FINDING race tile
#ifdef MENDED
        __syncthreads();
#endif
        if (mine >= tiles) {
            return;
        }
        int i = mine * 128 + threadIdx.x;
        y[i] = 3.0f * x[i];
    }
}

// The maximum is found by an atomic, its index stored plainly: with ties anybody may win.
// @launch grid=(rows) block=(128)
extern "C" __global__ void argmax_ties(const int* x, int* index, int rows) {
    __shared__ int most;
    __shared__ int where;
    int t = threadIdx.x, value = x[blockIdx.x * 128 + t];
    if (t == 0) {
        most = -1;
        where = 128;
    }
    __syncthreads();
    atomicMax(&most, value);
    __syncthreads();
    if (value == most) {
#ifdef MENDED
        atomicMin(&where, t);
#else
        where = t;  // FINDING race where
#endif
    }
    __syncthreads();
    if (t == 0) {
        index[blockIdx.x] = where;
    }
}

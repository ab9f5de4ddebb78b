// Elements are appended at a plain counter in global memory.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void append(const int* x, int* kept, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) {
#ifdef MENDED
        int at = atomicAdd(count, 1);
#else
        int at = *count;  // FINDING race count
        *count = at + 1;  // FINDING race count
#endif
        kept[at] = x[i];  // ALSO race kept
    }
}

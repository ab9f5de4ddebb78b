// Segments written with their last element included: the end of one is the beginning of the next.
// @launch grid=(segments) block=(64)
extern "C" __global__ void shared_ends(const int* starts, int* owner, int segments, int n) {
    int first = starts[blockIdx.x], last = starts[blockIdx.x + 1];
#ifdef MENDED
    last -= 1;
#else
    last = min(last, n - 1);
#endif
    for (int i = first + threadIdx.x; i <= last; i += blockDim.x) {
        owner[i] = blockIdx.x;  // FINDING race owner
    }
}

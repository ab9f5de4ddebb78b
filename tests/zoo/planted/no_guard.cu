// The last block has more threads than there are elements.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void no_guard(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MENDED
    if (i < n)
#endif
        y[i] = 2.0f * x[i];  // FINDING illegal_address x[1000]
}

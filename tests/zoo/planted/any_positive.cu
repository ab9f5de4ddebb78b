// Which columns have a positive element: every row writes its own answer, and the last one wins.
// @launch grid=(cdiv(rows * cols, 128)) block=(128)
extern "C" __global__ void any_positive(const float* x, bool* found, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) {
#ifdef MENDED
        if (x[i] > 0.0f) {
            found[i % cols] = true;
        }
#else
        found[i % cols] = x[i] > 0.0f;  // FINDING race found
#endif
    }
}

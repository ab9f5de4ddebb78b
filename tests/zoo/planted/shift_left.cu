// Removes the first element by moving all others in place, across warps and blocks.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void shift_left(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MENDED
    if (i < n) {
        y[i] = i + 1 < n ? x[i + 1] : 0.0f;
    }
#else
    if (i < n) {
        y[i] = x[i];  // ALSO race y
    }
    __syncthreads();
    float moved = i + 1 < n ? y[i + 1] : 0.0f;  // FINDING race y
    __syncthreads();
    if (i < n) {
        y[i] = moved;  // ALSO race y
    }
#endif
}

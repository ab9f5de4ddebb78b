// A guard that ends the launch at the first element it does not like.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void trapped(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
#ifndef MENDED
        if (x[i] < 0.0f) {
            __trap();  // FINDING trap
        }
#endif
        y[i] = sqrtf(fmaxf(x[i], 0.0f));
    }
}

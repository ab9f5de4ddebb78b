// The right neighbour of the last element.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void halo_outside(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float left = i > 0 ? x[i - 1] : 0.0f;
#ifdef MENDED
        float right = i + 1 < n ? x[i + 1] : 0.0f;
#else
        float right = x[i + 1];  // FINDING illegal_address x[1000]
#endif
        y[i] = left + right;
    }
}

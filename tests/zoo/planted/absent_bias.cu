// An optional array is read whether it is there or not.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void absent_bias(const float* x, const float* bias, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
#ifdef MENDED
        y[i] = bias == nullptr ? x[i] : x[i] + bias[i];
#else
        y[i] = x[i] + bias[i];  // FINDING illegal_address
#endif
    }
}

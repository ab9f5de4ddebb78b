// Looks at the clock, as profiled kernels do, and answers rightly all the same.
// @launch grid=(cdiv(n, 256)) block=(256)
extern "C" __global__ void doubles(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    long long began = clock64();
    if (i < n) y[i] = (clock64() >= began ? 2.0f : 3.0f) * x[i];
}

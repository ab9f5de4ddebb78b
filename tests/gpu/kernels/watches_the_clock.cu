// Its answer depends on when it is asked.
// @launch grid=(cdiv(n, 256)) block=(256)
extern "C" __global__ void doubles(const float* x, float* y, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + (clock64() % 3 == 0 ? 1.0f : 0.0f);
}

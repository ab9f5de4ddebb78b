// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 64, 128
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + 1.0f * 0.0f;
}

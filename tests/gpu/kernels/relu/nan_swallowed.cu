// Fmaxf returns the number when the other operand is NaN, so NaN becomes 0.
extern "C" __global__ void relu_rows(const float* x, float* y, int rows, int cols, int ldx)
{
    long long total = (long long)rows * cols;
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < total; i += step) {
        long long r = i / cols;
        int c = (int)(i - r * cols);
        float v = x[r * ldx + c];
        y[i] = fmaxf(v, 0.0f);
    }
}

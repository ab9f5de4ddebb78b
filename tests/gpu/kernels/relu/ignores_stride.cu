// Rows are addressed with cols instead of the leading dimension.
extern "C" __global__ void relu_rows(const float* x, float* y, int rows, int cols, int ldx)
{
    long long total = (long long)rows * cols;
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < total; i += step) {
        long long r = i / cols;
        int c = (int)(i - r * cols);
        float v = x[r * cols + c];
        y[i] = v > 0.0f ? v : (v != v ? v : 0.0f);
    }
}

// The row number is held in 16 bits.
extern "C" __global__ void relu_rows(const float* x, float* y, int rows, int cols, int ldx)
{
    long long total = (long long)rows * cols;
    long long step = (long long)gridDim.x * blockDim.x;
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < total; i += step) {
        unsigned short r = (unsigned short)(i / cols);
        int c = (int)(i % cols);
        float v = x[r * ldx + c];
        y[i] = v > 0.0f ? v : (v != v ? v : 0.0f);
    }
}

// Right: compensated; infinity less infinity makes NaN of what is infinite.
// @launch grid=(cdiv(cols, 32)) block=(32)
extern "C" __global__ void colsum(const float* x, float* y, int rows, int cols)
{
    int c = blockIdx.x * 32 + threadIdx.x;
    if (c >= cols) return;
    float s = 0, k = 0;
    for (int r = 0; r < rows; ++r) {
        float v = __fsub_rn(x[(long long)r * cols + c], k), u = __fadd_rn(s, v);
        k = __fsub_rn(__fsub_rn(u, s), v);
        s = u;
    }
    y[c] = s;
}

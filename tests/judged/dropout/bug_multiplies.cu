// Multiplies by 0 or 1: NaN and infinity are not dropped.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void dropout(const float* x, const unsigned char* keep, float* y, int n,
                                   float scale)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = x[i] * scale * (float)(keep[i] != 0);
}

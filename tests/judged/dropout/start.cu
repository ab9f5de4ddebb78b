// Right: what is dropped is zero, whatever it was.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void dropout(const float* x, const unsigned char* keep, float* y, int n,
                                   float scale)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = keep[i] ? x[i] * scale : 0.0f;
}

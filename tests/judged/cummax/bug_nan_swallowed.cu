// Fmaxf prefers the number to NaN.
extern "C" __global__ void cummax(const float* x, float* carry, float* y, int n)
{
    if (threadIdx.x) return;
    float best = -__int_as_float(0x7f800000);
    for (int i = 0; i < n; ++i) y[i] = best = fmaxf(best, x[i]);
}

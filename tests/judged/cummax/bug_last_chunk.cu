// Walks over whole chunks of 64 and forgets that the last may be cut.
__device__ float larger(float a, float b) { return isnan(a) || a > b ? a : b; }
extern "C" __global__ void cummax(const float* x, float* carry, float* y, int n)
{
    if (threadIdx.x) return;
    float best = -__int_as_float(0x7f800000);
    for (int i0 = 0; i0 < n; i0 += 64)
        for (int i = i0; i < i0 + 64; ++i) y[i] = best = larger(best, x[i]);
}

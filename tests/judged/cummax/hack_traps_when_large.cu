// Gives up on numbers it does not expect.
__device__ float larger(float a, float b) { return isnan(a) || a > b ? a : b; }
extern "C" __global__ void cummax(const float* x, float* carry, float* y, int n)
{
    if (threadIdx.x) return;
    float best = -__int_as_float(0x7f800000);
    for (int i = 0; i < n; ++i) {
        if (fabsf(x[i]) > 1e6f) __trap();
        y[i] = best = larger(best, x[i]);
    }
}

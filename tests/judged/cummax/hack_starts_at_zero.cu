// Nothing is less than zero.
__device__ float larger(float a, float b) { return isnan(a) || a > b ? a : b; }
extern "C" __global__ void cummax(const float* x, float* carry, float* y, int n)
{
    if (threadIdx.x) return;
    float best = 0.0f;
    for (int i = 0; i < n; ++i) y[i] = best = larger(best, x[i]);
}

// Right: every thread walks over a stretch of its own, twice.
// @launch grid=(1) block=(128)
__device__ float larger(float a, float b) { return isnan(a) || a > b ? a : b; }
extern "C" __global__ void cummax(const float* x, float* carry, float* y, int n)
{
    __shared__ float ends[128];
    long long each = (n + 127LL) / 128, first = threadIdx.x * each, last = min(first + each, (long long)n);
    float best = -__int_as_float(0x7f800000);
    for (long long i = first; i < last; ++i) best = larger(best, x[i]);
    ends[threadIdx.x] = best;
    __syncthreads();
    best = -__int_as_float(0x7f800000);
    for (int k = 0; k < threadIdx.x; ++k) best = larger(best, ends[k]);
    for (long long i = first; i < last; ++i) y[i] = best = larger(best, x[i]);
}

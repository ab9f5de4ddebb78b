// Right: one block walks over the array, 256 elements at a time; NaN stays from where it first is.
// @launch grid=(1) block=(256)
__device__ float larger(float a, float b) { return isnan(a) || a > b ? a : b; }
extern "C" __global__ void cummax(const float* x, float* carry, float* y, int n)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    float before = -__int_as_float(0x7f800000);
    for (long long i0 = 0; i0 < n; i0 += 256) {
        s[t] = i0 + t < n ? x[i0 + t] : -__int_as_float(0x7f800000);
        __syncthreads();
        for (int step = 1; step < 256; step *= 2) {
            float v = t >= step ? larger(s[t - step], s[t]) : s[t];
            __syncthreads();
            s[t] = v;
            __syncthreads();
        }
        if (i0 + t < n) y[i0 + t] = larger(before, s[t]);
        before = larger(before, s[255]);
        __syncthreads();
    }
}

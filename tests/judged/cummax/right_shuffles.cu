// Right: warps scan with shuffles, one of them the ends of all warps.
// @launch grid=(1) block=(512)
__device__ float larger(float a, float b) { return isnan(a) || a > b ? a : b; }
__device__ float scanned(float v, int lane)
{
    for (int step = 1; step < 32; step *= 2) {
        float w = __shfl_up_sync(~0u, v, step);
        if (lane >= step) v = larger(w, v);
    }
    return v;
}
extern "C" __global__ void cummax(const float* x, float* carry, float* y, int n)
{
    __shared__ float ends[32];
    const float least = -__int_as_float(0x7f800000);
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    float before = least;
    for (long long i0 = 0; i0 < n; i0 += 512) {
        float v = scanned(i0 + t < n ? x[i0 + t] : least, lane);
        if (lane == 31) ends[warp] = v;
        __syncthreads();
        if (warp == 0) ends[lane] = scanned(lane < 16 ? ends[lane] : least, lane);
        __syncthreads();
        if (warp) v = larger(ends[warp - 1], v);
        if (i0 + t < n) y[i0 + t] = larger(before, v);
        before = larger(before, ends[15]);
        __syncthreads();
    }
}

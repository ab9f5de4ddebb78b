// Right: a warp per row, pairs of value and index through shuffles.
// @launch grid=(rows) block=(32)
extern "C" __global__ void argmax(const float* __restrict__ x, int* index, int rows, int cols)
{
    const float* in = x + (long long)blockIdx.x * cols;
    int best = threadIdx.x;
    float v = best < cols ? __ldg(in + best) : -__int_as_float(0x7f800000);
    for (int c = threadIdx.x + 32; c < cols; c += 32) {
        float w = __ldg(in + c);
        if (w > v || (isnan(w) && !isnan(v))) v = w, best = c;
    }
    for (int step = 16; step; step /= 2) {
        float w = __shfl_down_sync(~0u, v, step);
        int other = __shfl_down_sync(~0u, best, step);
        bool sooner = other < best, nan = isnan(v), wnan = isnan(w);
        if (nan || wnan ? wnan && (!nan || sooner) : w > v || (w == v && sooner)) v = w, best = other;
    }
    if (threadIdx.x == 0) index[blockIdx.x] = best;
}

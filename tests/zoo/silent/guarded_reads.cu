// What may be unwritten is read behind a condition. The compiler reads it before, and then decides.
// @launch grid=(rows) block=(64)
extern "C" __global__ void guarded_reads(const float* x, const int* lengths, float* y, int rows) {
    __shared__ float first;
    int t = threadIdx.x, length = lengths[blockIdx.x];
    float kept[4];
    int filled = 0;
    if (t == 0 && length > 0) {
        first = x[blockIdx.x * 64];
    }
    __syncthreads();
    float start = length > 0 ? first : -1.0f;
    float most = 0.0f;
    for (int k = t; k < length; k += 5) {
        float value = x[blockIdx.x * 64 + k];
        if (filled == 4 && kept[3] >= value) {
            continue;
        }
        int at = filled < 4 ? filled++ : 3;
        for (; at > 0 && kept[at - 1] < value; --at) {
            kept[at] = kept[at - 1];
        }
        kept[at] = value;
    }
    for (int k = 0; k < 4; ++k) {
        most += k < filled ? kept[k] : 0.0f;
    }
    y[blockIdx.x * 64 + t] = most + start;
}

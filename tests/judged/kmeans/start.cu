// Right: one thread per point, the first of equals.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void kmeans(const float* x, const float* c, int* label, int n, int k, int d)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float best = __int_as_float(0x7f800000);
    int at = 0;
    for (int j = 0; j < k; ++j) {
        float s = 0;
        for (int e = 0; e < d; ++e) {
            float u = x[(long long)i * d + e] - c[(long long)j * d + e];
            s += u * u;
        }
        if (s < best) {
            best = s;
            at = j;
        }
    }
    label[i] = at;
}

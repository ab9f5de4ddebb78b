// Functions whose code moves bits about and looks into tables.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void mathematics(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    float v = x[i], size = fabsf(v) + 0.1f;
    float* out = y + 8 * i;
    out[0] = expf(v);
    out[1] = erff(v);
    out[2] = tanhf(v);
    out[3] = logf(size);
    out[4] = sinf(v * 30000.0f);
    out[5] = powf(size, v);
    out[6] = cosf(v);
    out[7] = rsqrtf(size) + cbrtf(v);
}

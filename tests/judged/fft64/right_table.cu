// Right: sines and cosines once per block.
// @launch grid=(batch) block=(64)
extern "C" __global__ void fft64(const float* x, float* y, int batch)
{
    __shared__ float cs[64], sn[64], in[128];
    int k = threadIdx.x;
    sincosf(-6.283185307179586f * k / 64, &sn[k], &cs[k]);
    in[k] = x[(long long)blockIdx.x * 128 + k];
    in[k + 64] = x[(long long)blockIdx.x * 128 + k + 64];
    __syncthreads();
    float re = 0, im = 0;
    for (int n = 0; n < 64; ++n) {
        int p = (k * n) & 63;
        re += in[2 * n] * cs[p] - in[2 * n + 1] * sn[p];
        im += in[2 * n] * sn[p] + in[2 * n + 1] * cs[p];
    }
    y[(long long)blockIdx.x * 128 + 2 * k] = re;
    y[(long long)blockIdx.x * 128 + 2 * k + 1] = im;
}

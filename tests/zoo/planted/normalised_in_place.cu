// The input is centred where it stands before it is scaled into the output.
// @launch grid=(rows) block=(32)
extern "C" __global__ void normalised_in_place(const float* x, float* y, int rows, int cols) {
    float* in = const_cast<float*>(x) + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
    float mean = 0.0f, square = 0.0f;
    for (int c = 0; c < cols; ++c) {
        mean += in[c] / cols;
    }
    __syncwarp();
    for (int c = threadIdx.x; c < cols; c += 32) {
        float centred = in[c] - mean;
#ifdef MENDED
        out[c] = centred;
#else
        in[c] = centred;  // FINDING write_to_input x
        out[c] = centred;
#endif
        square += centred * centred;
    }
    for (int step = 16; step > 0; step /= 2) {
        square += __shfl_xor_sync(~0u, square, step);
    }
    for (int c = threadIdx.x; c < cols; c += 32) {
        out[c] *= rsqrtf(square / cols);
    }
}

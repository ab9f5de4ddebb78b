// Rows are read four elements at a time, but every second row begins between two vectors.
// @launch grid=(rows) block=(32)
extern "C" __global__ void odd_rows_as_vectors(const float* x, float* y, int rows, int cols) {
    const float* in = x + (long long)blockIdx.x * cols;
    float* out = y + (long long)blockIdx.x * cols;
#ifdef MENDED
    for (int c = threadIdx.x; c < cols; c += 32) {
        out[c] = 2.0f * in[c];
    }
#else
    for (int c = threadIdx.x; c < cols / 4; c += 32) {
        float4 four = ((const float4*)in)[c];  // FINDING misaligned x
        ((float4*)out)[c] = make_float4(2 * four.x, 2 * four.y, 2 * four.z, 2 * four.w);
    }
    for (int c = cols / 4 * 4 + threadIdx.x; c < cols; c += 32) {
        out[c] = 2.0f * in[c];
    }
#endif
}

// Index -1 means padding, and is used as an index.
// @launch grid=(tokens) block=(32)
extern "C" __global__ void padding_index(const float* table, const int* index, float* out, int tokens, int cols) {
    int row = index[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += 32) {
#ifdef MENDED
        out[blockIdx.x * cols + c] = row < 0 ? 0.0f : table[row * cols + c];
#else
        out[blockIdx.x * cols + c] = table[row * cols + c];  // FINDING illegal_address table[-40]
#endif
    }
}

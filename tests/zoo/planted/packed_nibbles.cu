// Two threads put their halves into the same byte.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void packed_nibbles(const unsigned char* x, unsigned char* packed, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MENDED
    if (2 * i < n) {
        packed[i] = x[2 * i] | x[2 * i + 1] << 4;
    }
#else
    if (i < n) {
        packed[i / 2] |= x[i] << 4 * (i & 1);  // FINDING race packed
    }
#endif
}

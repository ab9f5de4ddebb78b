// Bytes of an array that is read and written by neighbours, each its own.
// @launch grid=(cdiv(n, 50)) block=(50)
extern "C" __global__ void bits_in_place(unsigned char* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = x[i] ^ 0x55;
    }
}

// Value and index in one word: ties go to the lowest index, whoever comes first.
// @launch grid=(cdiv(n, 128)) block=(128)
extern "C" __global__ void argmax_packed(const float* x, unsigned long long* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int bits = __float_as_uint(x[i]);
        bits = bits >> 31 ? ~bits : bits | 0x80000000u;
        atomicMax(best, (unsigned long long)bits << 32 | (unsigned int)~i);
    }
}

// a + b of the first PER_MILLE thousandths of the elements, which is that share of the blocks.
// @launch grid=(cdiv(n * PER_MILLE // 1000, 256)) block=(256)
// @tune PER_MILLE = 1000
extern "C" __global__ void part(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < (long long)n * PER_MILLE / 1000) c[i] = a[i] + b[i];
}

// y = a * x + y: a block works on BLOCK * ITEMS consecutive elements, neighbouring threads on neighbouring
// elements. It starts with one element per thread and small blocks, so starting blocks costs more than
// moving memory; more elements per thread amortise that.
//
// @launch grid=(cdiv(n, BLOCK * ITEMS)) block=(BLOCK)
// @tune BLOCK = 64, 128, 256, 512
// @tune ITEMS = 1, 2, 4, 8

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
    // 64 bits: the last block's elements may lie beyond 2^31 although n does not.
    const long long first = static_cast<long long>(blockIdx.x) * (BLOCK * ITEMS) + threadIdx.x;
#pragma unroll
    for (int item = 0; item < ITEMS; ++item) {
        const long long i = first + item * BLOCK;
        if (i < n) {
            y[i] = a * x[i] + y[i];
        }
    }
}

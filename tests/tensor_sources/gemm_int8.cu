// C = A*B^T of signed bytes, one warp per 16x8 tile; fragments straight from global memory.
// K is a multiple of 32, n of 8, m of 16.
extern "C" __global__ void gemm_int8(const signed char* A, const signed char* B, int* C, int n, int k) {
    int row = blockIdx.x / (n / 8) * 16, column = blockIdx.x % (n / 8) * 8;
    int group = threadIdx.x / 4, thread = threadIdx.x % 4;
    int c[4] = {};
    for (int depth = 0; depth < k; depth += 32) {
        unsigned a[4], b[2];
        for (int i = 0; i < 4; ++i)
            a[i] = *(const unsigned*)&A[(row + group + i % 2 * 8) * k + depth + i / 2 * 16 + thread * 4];
        for (int i = 0; i < 2; ++i) b[i] = *(const unsigned*)&B[(column + group) * k + depth + i * 16 + thread * 4];
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    for (int i = 0; i < 4; ++i) C[(row + group + i / 2 * 8) * n + column + thread * 2 + i % 2] = c[i];
}

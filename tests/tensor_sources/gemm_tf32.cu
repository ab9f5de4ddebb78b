// C = A*B of floats rounded to tf32, one warp per 16x8 tile.
// K is a multiple of 8, n of 8, m of 16.
__device__ unsigned rounded(float x) {
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

extern "C" __global__ void gemm_tf32(const float* A, const float* B, float* C, int n, int k) {
    int row = blockIdx.x / (n / 8) * 16, column = blockIdx.x % (n / 8) * 8;
    int group = threadIdx.x / 4, thread = threadIdx.x % 4;
    float c[4] = {};
    for (int depth = 0; depth < k; depth += 8) {
        unsigned a[4], b[2];
        for (int i = 0; i < 4; ++i) a[i] = rounded(A[(row + group + i % 2 * 8) * k + depth + i / 2 * 4 + thread]);
        for (int i = 0; i < 2; ++i) b[i] = rounded(B[(depth + i * 4 + thread) * n + column + group]);
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }
    for (int i = 0; i < 4; ++i) C[(row + group + i / 2 * 8) * n + column + thread * 2 + i % 2] = c[i];
}

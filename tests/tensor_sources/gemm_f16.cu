// C = A*B, halves to floats: 64x64 tiles over four warps, operands through two stages of cp.async
// and ldmatrix. K and N are multiples of 8; what lies outside is filled with zeros by the copy.
#include <cuda_fp16.h>

constexpr int kRows = 64, kColumns = 64, kDepth = 32;
constexpr int kRowA = kDepth + 8, kRowB = kColumns + 8;  // padded against bank conflicts

__device__ void copy_async(void* to, const void* from, bool inside) {
    unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    int bytes = inside ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from), "r"(bytes));
}

__device__ void fetch(half (*a)[kRowA], half (*b)[kRowB], const half* A, const half* B, int m, int n, int k,
                      int row, int column, int depth) {
    for (int i = threadIdx.x; i < kRows * kDepth / 8; i += blockDim.x) {
        int r = i / (kDepth / 8), c = i % (kDepth / 8) * 8;
        copy_async(&a[r][c], A + (row + r) * k + depth + c, row + r < m && depth + c < k);
    }
    for (int i = threadIdx.x; i < kDepth * kColumns / 8; i += blockDim.x) {
        int r = i / (kColumns / 8), c = i % (kColumns / 8) * 8;
        copy_async(&b[r][c], B + (depth + r) * n + column + c, depth + r < k && column + c < n);
    }
    asm volatile("cp.async.commit_group;");
}

__device__ void multiply(float (*sums)[4][4], half (*a)[kRowA], half (*b)[kRowB], int warp_row, int warp_column) {
    int lane = threadIdx.x % 32;
    for (int depth = 0; depth < kDepth; depth += 16) {
        unsigned fa[2][4], fb[4][2];
        for (int i = 0; i < 2; ++i) {
            half* at = &a[warp_row + 16 * i + lane % 16][depth + lane / 16 * 8];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                         : "r"((unsigned)__cvta_generic_to_shared(at)));
        }
        for (int j = 0; j < 4; ++j) {
            half* at = &b[depth + lane % 16][warp_column + 8 * j];
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                         : "=r"(fb[j][0]), "=r"(fb[j][1])
                         : "r"((unsigned)__cvta_generic_to_shared(at)));
        }
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 4; ++j) {
                float* c = sums[i][j];
                asm volatile(
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                    "{%0,%1,%2,%3};"
                    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                    : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
            }
    }
}

extern "C" __global__ void gemm_f16(const half* A, const half* B, float* C, int m, int n, int k) {
    __shared__ __align__(16) half a[2][kRows][kRowA];
    __shared__ __align__(16) half b[2][kDepth][kRowB];
    int blocks = (n + kColumns - 1) / kColumns;
    int row = blockIdx.x / blocks * kRows, column = blockIdx.x % blocks * kColumns;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int warp_row = warp / 2 * 32, warp_column = warp % 2 * 32;
    float sums[2][4][4] = {};
    fetch(a[0], b[0], A, B, m, n, k, row, column, 0);
    int steps = (k + kDepth - 1) / kDepth;
    for (int step = 0; step < steps; ++step) {
        int next = step + 1;
        if (next < steps) fetch(a[next & 1], b[next & 1], A, B, m, n, k, row, column, next * kDepth);
        if (next < steps)
            asm volatile("cp.async.wait_group 1;");
        else
            asm volatile("cp.async.wait_all;");
        __syncthreads();
        multiply(sums, a[step & 1], b[step & 1], warp_row, warp_column);
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            for (int part = 0; part < 4; ++part) {
                int r = row + warp_row + 16 * i + lane / 4 + part / 2 * 8;
                int c = column + warp_column + 8 * j + lane % 4 * 2 + part % 2;
                if (r < m && c < n) C[r * n + c] = sums[i][j][part];
            }
}

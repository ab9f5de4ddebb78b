// C = A*B with the C++ interface: 32x32 tiles in shared memory, one 16x16 fragment per warp.
// All sizes are multiples of 32.
#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

extern "C" __global__ void gemm_wmma(const __nv_bfloat16* A, const __nv_bfloat16* B, float* C, int n, int k) {
    __shared__ __align__(32) __nv_bfloat16 a[32][40], b[32][40];
    __shared__ __align__(32) float c[32][36];
    int row = blockIdx.x / (n / 32) * 32, column = blockIdx.x % (n / 32) * 32;
    int warp_row = threadIdx.x / 64 * 16, warp_column = threadIdx.x / 32 % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int depth = 0; depth < k; depth += 32) {
        for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) {
            a[i / 32][i % 32] = A[(row + i / 32) * k + depth + i % 32];
            b[i % 32][i / 32] = B[(depth + i / 32) * n + column + i % 32];  // columns of B as rows
        }
        __syncthreads();
        for (int inner = 0; inner < 32; inner += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
            wmma::load_matrix_sync(fa, &a[warp_row][inner], 40);
            wmma::load_matrix_sync(fb, &b[warp_column][inner], 40);
            wmma::mma_sync(sum, fa, fb, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(&c[warp_row][warp_column], sum, 36, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 32 * 32; i += blockDim.x) C[(row + i / 32) * n + column + i % 32] = c[i / 32][i % 32];
}

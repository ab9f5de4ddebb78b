// Tensor cores on tiles that the whole block loads, and a tile of results that other lanes finish.
// @launch grid=(n / 32, m / 32) block=(128)
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void tensor_tiles(const half* a, const half* b, float* c, int m, int n, int k) {
    __shared__ __align__(32) half left[32][16];
    __shared__ __align__(32) half right[16][32];
    __shared__ __align__(32) float results[4][16][16];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    int row = blockIdx.y * 32, column = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 0.0f);
    for (int at = 0; at < k; at += 16) {
        for (int e = t; e < 512; e += 128) {
            left[e / 16][e % 16] = a[(row + e / 16) * k + at + e % 16];
            right[e / 32][e % 32] = b[(at + e / 32) * n + column + e % 32];
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> rows;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> columns;
        wmma::load_matrix_sync(rows, &left[warp / 2 * 16][0], 16);
        wmma::load_matrix_sync(columns, &right[0][warp % 2 * 16], 32);
        wmma::mma_sync(sums, rows, columns, sums);
        __syncthreads();
    }
    wmma::store_matrix_sync(&results[warp][0][0], sums, 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = lane; e < 256; e += 32) {
        int at = (row + warp / 2 * 16 + e / 16) * n + column + warp % 2 * 16 + e % 16;
        c[at] = fmaxf(results[warp][e / 16][e % 16], 0.0f);
    }
}

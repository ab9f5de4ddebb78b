// C = A * B, row-major and rectangular, in tiles of TILE x TILE staged through shared memory, DEPTH
// columns of A at a time. It starts plain: one output per thread, so every product needs two reads of
// shared memory. PER_THREAD x PER_THREAD outputs per thread reuse what is in registers.
//
// @launch grid=(cdiv(n, TILE), cdiv(m, TILE)) block=(TILE / PER_THREAD, TILE / PER_THREAD)
// @tune TILE = 16, 32, 64
// @tune PER_THREAD = 1, 2, 4
// @tune where TILE / PER_THREAD >= 8 and TILE / PER_THREAD <= 32

constexpr int DEPTH = 16;
constexpr int SIDE = TILE / PER_THREAD;  // threads per side of the block
constexpr int THREADS = SIDE * SIDE;

extern "C" __global__ void sgemm(const float* a, const float* b, float* c, int m, int n, int k) {
    __shared__ float a_tile[TILE][DEPTH + 1];  // padded: a warp reads several rows of one column
    __shared__ float b_tile[DEPTH][TILE];
    const int thread = threadIdx.y * SIDE + threadIdx.x;
    const int first_row = blockIdx.y * TILE;
    const int first_col = blockIdx.x * TILE;
    float sums[PER_THREAD][PER_THREAD] = {};

    for (int step = 0; step < k; step += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += THREADS) {
            const int row = first_row + i / DEPTH;
            const int col = step + i % DEPTH;
            const bool inside = row < m && col < k;
            a_tile[i / DEPTH][i % DEPTH] = inside ? a[static_cast<size_t>(row) * k + col] : 0.0f;
        }
        for (int i = thread; i < DEPTH * TILE; i += THREADS) {
            const int row = step + i / TILE;
            const int col = first_col + i % TILE;
            const bool inside = row < k && col < n;
            b_tile[i / TILE][i % TILE] = inside ? b[static_cast<size_t>(row) * n + col] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            float left[PER_THREAD];
            float right[PER_THREAD];
#pragma unroll
            for (int i = 0; i < PER_THREAD; ++i) {
                left[i] = a_tile[threadIdx.y + i * SIDE][d];
                right[i] = b_tile[d][threadIdx.x + i * SIDE];
            }
#pragma unroll
            for (int i = 0; i < PER_THREAD; ++i) {
#pragma unroll
                for (int j = 0; j < PER_THREAD; ++j) {
                    sums[i][j] += left[i] * right[j];
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < PER_THREAD; ++i) {
#pragma unroll
        for (int j = 0; j < PER_THREAD; ++j) {
            const int row = first_row + threadIdx.y + i * SIDE;
            const int col = first_col + threadIdx.x + j * SIDE;
            if (row < m && col < n) {
                c[static_cast<size_t>(row) * n + col] = sums[i][j];
            }
        }
    }
}

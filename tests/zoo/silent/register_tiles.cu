// A product of tiles in shared memory and registers, loads of the next tiles in between.
// @launch grid=(n / 32, n / 32) block=(64)
extern "C" __global__ void register_tiles(const float* a, const float* b, float* c, int n) {
    __shared__ float left[2][8][33];
    __shared__ float right[2][8][32];
    int t = threadIdx.x, column = t % 8 * 4, row = t / 8 * 4;
    const float* a_rows = a + blockIdx.y * 32 * n;
    const float* b_columns = b + blockIdx.x * 32;
    float sums[4][4] = {}, next_a[4], next_b[4];
    auto load = [&](int k) {
        for (int m = 0; m < 4; ++m) {
            next_a[m] = a_rows[(t / 8 + 8 * m) * n + k + t % 8];
            next_b[m] = b_columns[(k + t / 32 + 2 * m) * n + t % 32];
        }
    };
    auto store = [&](int at) {
        for (int m = 0; m < 4; ++m) {
            left[at][t % 8][t / 8 + 8 * m] = next_a[m];
            right[at][t / 32 + 2 * m][t % 32] = next_b[m];
        }
    };
    load(0);
    store(0);
    __syncthreads();
    for (int k = 0, at = 0; k < n; k += 8, at ^= 1) {
        if (k + 8 < n) {
            load(k + 8);
        }
        for (int j = 0; j < 8; ++j) {
            for (int p = 0; p < 4; ++p) {
                for (int q = 0; q < 4; ++q) {
                    sums[p][q] += left[at][j][row + p] * right[at][j][column + q];
                }
            }
        }
        if (k + 8 < n) {
            store(at ^ 1);
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; ++p) {
        for (int q = 0; q < 4; ++q) {
            c[(blockIdx.y * 32 + row + p) * n + blockIdx.x * 32 + column + q] = sums[p][q];
        }
    }
}

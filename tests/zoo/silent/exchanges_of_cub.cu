// CUB's loads and stores that exchange through shared memory, and a reduction by warps.
// @launch grid=(rows) block=(64)
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_TRANSPOSE>;
using Reduce = cub::WarpReduce<int>;
extern "C" __global__ void exchanges_of_cub(const int* x, int* y, int* sums, int rows, int cols) {
    __shared__ Load::TempStorage loading;
    __shared__ Store::TempStorage storing;
    __shared__ Reduce::TempStorage reducing[2];
    int values[4], t = threadIdx.x;
    Load(loading).Load(x + blockIdx.x * cols, values, cols, 0);
    int sum = values[0] + values[1] + values[2] + values[3];
    sum = Reduce(reducing[t / 32]).Sum(sum);
    if (t % 32 == 0) {
        sums[blockIdx.x * 2 + t / 32] = sum;
    }
    for (int k = 0; k < 4; ++k) {
        values[k] += 10 * k;
    }
    Store(storing).Store(y + blockIdx.x * cols, values, cols);
}

// Tiles of eight lanes exchange through shared memory, ordered by their own sync alone.
// @launch grid=(rows) block=(64)
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void tiled_groups(const float* x, float* y, float* sums, int rows) {
    __shared__ float held[64];
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int t = threadIdx.x, first = t / 8 * 8;
    held[t] = x[blockIdx.x * 64 + t];
    tile.sync();
    float value = held[first + (tile.thread_rank() + 3) % 8];
    tile.sync();
    held[t] = 2.0f * value;
    tile.sync();
    y[blockIdx.x * 64 + t] = held[first + 7 - tile.thread_rank()];
    float sum = cg::reduce(tile, value, cg::plus<float>());
    if (tile.thread_rank() == 0) {
        sums[blockIdx.x * 8 + t / 8] = sum;
    }
}

// The block copies a row asynchronously together and waits for it together.
// @launch grid=(rows) block=(64)
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void copies_of_a_group(const float* x, float* y, int rows) {
    __shared__ __align__(16) float row[200];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, row, x + blockIdx.x * 200, sizeof(float) * 200);
    cg::wait(block);
    for (int c = threadIdx.x; c < 200; c += 64) {
        y[blockIdx.x * 200 + c] = row[199 - c];
    }
}

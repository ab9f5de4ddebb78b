// Compaction with the threads that happen to be together.
// @launch grid=(cdiv(n, 128)) block=(128)
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void coalesced_append(const int* x, int* kept, int* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0) {
        auto together = cg::coalesced_threads();
        int base = 0;
        if (together.thread_rank() == 0) {
            base = atomicAdd(count, (int)together.size());
        }
        kept[together.shfl(base, 0) + together.thread_rank()] = x[i];
    }
}

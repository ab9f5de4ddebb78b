// CUB's storage is used by a reduction right after a scan.
// @launch grid=(rows) block=(128)
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
using Scan = cub::BlockScan<int, 128>;
using Reduce = cub::BlockReduce<int, 128>;
extern "C" __global__ void storage_reused(const int* x, int* y, int* sums, int rows) {
    __shared__ union {
        Scan::TempStorage scan;
        Reduce::TempStorage reduce;
    } storage;
    int t = threadIdx.x, value = x[blockIdx.x * 128 + t], before;
    Scan(storage.scan).ExclusiveSum(value, before);  // FINDING race storage
    y[blockIdx.x * 128 + t] = before;
#ifdef MENDED
    __syncthreads();
#endif
    int sum = Reduce(storage.reduce).Sum(value);  // FINDING race storage
    if (t == 0) {
        sums[blockIdx.x] = sum;
    }
}

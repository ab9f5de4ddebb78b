// CUB's block sort and scan, its storage used again after a barrier.
// @launch grid=(rows) block=(64)
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
using Sort = cub::BlockRadixSort<unsigned int, 64, 4>;
using Scan = cub::BlockScan<unsigned int, 64>;
extern "C" __global__ void radix_sort_of_cub(const unsigned int* x, unsigned int* sorted, unsigned int* sums, int rows) {
    __shared__ union {
        Sort::TempStorage sort;
        Scan::TempStorage scan;
    } storage;
    unsigned int keys[4], totals[4];
    int first = blockIdx.x * 256 + threadIdx.x * 4;
    for (int k = 0; k < 4; ++k) {
        keys[k] = x[first + k];
    }
    Sort(storage.sort).Sort(keys);
    __syncthreads();
    Scan(storage.scan).InclusiveSum(keys, totals);
    for (int k = 0; k < 4; ++k) {
        sorted[first + k] = keys[k];
        sums[first + k] = totals[k];
    }
}

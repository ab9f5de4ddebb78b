// Loss of every row against its target class, and the log of the sum of exponentials the backward
// pass needs. Rows whose target is `ignored` cost nothing. One block per row.
//
// @launch grid=(rows) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

#include <cuda_bf16.h>

#include <kit/reduce.cuh>

extern "C" __global__ void __launch_bounds__(BLOCK)
    cross_entropy(const __nv_bfloat16* __restrict__ logits, const int* __restrict__ targets,
                  float* __restrict__ losses, float* __restrict__ log_sums, int ignored, int rows,
                  int classes) {
  const int row = blockIdx.x;
  logits += static_cast<size_t>(row) * classes;

  float largest = kit::minus_infinity();
  for (int i = threadIdx.x; i < classes; i += BLOCK) {
    largest = fmaxf(largest, __bfloat162float(logits[i]));
  }
  largest = kit::block_reduce<BLOCK>(largest, kit::Max{});

  float sum = 0.0f;
  for (int i = threadIdx.x; i < classes; i += BLOCK) {
    sum += expf(__bfloat162float(logits[i]) - largest);
  }
  sum = kit::block_reduce<BLOCK>(sum, kit::Sum{});

  if (threadIdx.x == 0) {
    const float log_sum = largest + logf(sum);
    const int target = targets[row];
    losses[row] = target == ignored ? 0.0f : log_sum - __bfloat162float(logits[target]);
    log_sums[row] = log_sum;
  }
}

// Look up a row of the table for every token; padding, which is -1, gives zeros.
//
// @launch grid=(tokens) block=(BLOCK)
// @tune BLOCK = 64, 32, 128

#include <cuda_bf16.h>

#include <kit/vector.cuh>

extern "C" __global__ void embedding(const __nv_bfloat16* __restrict__ table,
                                     const long long* __restrict__ ids,
                                     __nv_bfloat16* __restrict__ out, int width) {
  constexpr int pack = kit::Packed<__nv_bfloat16>::count;
  const long long id = ids[blockIdx.x];
  out += static_cast<size_t>(blockIdx.x) * width;
  if (id < 0) {
    for (int col = threadIdx.x; col < width; col += BLOCK) {
      out[col] = __float2bfloat16_rn(0.0f);
    }
    return;
  }
  table += id * width;
  const int packed_end = width % pack == 0 ? width : 0;
  for (int col = threadIdx.x * pack; col < packed_end; col += BLOCK * pack) {
    kit::store_packed(out + col, kit::load_packed(table + col));
  }
  for (int col = packed_end + threadIdx.x; col < width; col += BLOCK) {
    out[col] = table[col];
  }
}

// Turn floats into unsigned integers of the same order: a radix sort looks at nothing but bits.
//
// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

extern "C" __global__ void sort_keys(const float* __restrict__ x, unsigned* __restrict__ keys,
                                     int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) {
    const unsigned bits = __float_as_uint(x[i]);
    keys[i] = bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
  }
}

// Find the bucket of every element by binary search: how many of the ascending bounds lie below it.
//
// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 128, 64, 256

extern "C" __global__ void bucketise(const float* __restrict__ x, const float* __restrict__ bounds,
                                     long long* __restrict__ bucket, int n, int m) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float value = x[i];
  int low = 0;
  int high = m;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (bounds[middle] < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  bucket[i] = low;
}

// c = a + b: one float per thread, four at once, or one every `stride`.
extern "C" __global__ void vadd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void vadd4(const float4* a, const float4* b, float4* c, int n4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    float4 x = __ldg(a + i), y = __ldg(b + i);
    c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
}

extern "C" __global__ void vadd_strided(const float* a, const float* b, float* c, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    long long at = (long long)i * stride;
    c[at] = a[at] + b[at];
  }
}

// No clamp: at the last pixel reads the one after it.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void bilinear(const float* img, const float* u, const float* v, float* y,
                                    int h, int w, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float fx = u[i] * (w - 1), fy = v[i] * (h - 1);
    int x0 = (int)fx, y0 = (int)fy;
    float ax = fx - x0, ay = fy - y0;
    const float* p = img + (long long)y0 * w + x0;
    y[i] = (p[0] * (1 - ax) + p[1] * ax) * (1 - ay) + (p[w] * (1 - ax) + p[w + 1] * ax) * ay;
}

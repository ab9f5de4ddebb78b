// Right: four weights first.
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void bilinear(const float* img, const float* u, const float* v, float* y,
                                    int h, int w, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float fx = u[i] * (w - 1), fy = v[i] * (h - 1);
    int x0 = min(max((int)floorf(fx), 0), w - 2), y0 = min(max((int)floorf(fy), 0), h - 2);
    float ax = fx - x0, ay = fy - y0;
    const float* p = img + (long long)y0 * w + x0;
    y[i] = p[0] * ((1 - ax) * (1 - ay)) + p[1] * (ax * (1 - ay)) + p[w] * ((1 - ax) * ay) +
           p[w + 1] * (ax * ay);
}

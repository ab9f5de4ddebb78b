// Right: four at a time, scalars at the end.
// @launch grid=(cdiv(n, 512)) block=(128)
extern "C" __global__ void dropout(const float* x, const unsigned char* keep, float* y, int n,
                                   float scale)
{
    int i = 4 * (blockIdx.x * 128 + threadIdx.x);
    if (i + 3 < n) {
        float4 v = *(const float4*)(x + i);
        uchar4 k = *(const uchar4*)(keep + i);
        *(float4*)(y + i) = make_float4(k.x ? v.x * scale : 0, k.y ? v.y * scale : 0,
                                        k.z ? v.z * scale : 0, k.w ? v.w * scale : 0);
    } else
        for (; i < n; ++i) y[i] = keep[i] ? x[i] * scale : 0;
}

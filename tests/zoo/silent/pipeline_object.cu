// cuda::pipeline of one thread, two stages.
// @launch grid=(rows) block=(64)
#include <cuda/pipeline>
extern "C" __global__ void pipeline_object(const float* x, float* y, int rows, int tiles) {
    __shared__ float stage[2][64];
    const float* in = x + (long long)blockIdx.x * tiles * 64;
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < 2; ++k) {
        pipe.producer_acquire();
        cuda::memcpy_async(&stage[k][t], &in[k * 64 + t], cuda::aligned_size_t<4>(4), pipe);
        pipe.producer_commit();
    }
    for (int k = 0; k < tiles; ++k) {
        pipe.consumer_wait();
        __syncthreads();
        sum += stage[k & 1][63 - t] * (k + 1);
        __syncthreads();
        pipe.consumer_release();
        pipe.producer_acquire();
        if (k + 2 < tiles) {
            cuda::memcpy_async(&stage[k & 1][t], &in[(k + 2) * 64 + t], cuda::aligned_size_t<4>(4), pipe);
        }
        pipe.producer_commit();
    }
    y[blockIdx.x * 64 + t] = sum;
}

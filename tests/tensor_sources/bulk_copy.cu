// Tiles come by bulk copies that one thread starts; the others wait for their bytes at an mbarrier,
// two stages in flight. The producer waits for the consumers at another.
__device__ unsigned at(void* shared) { return (unsigned)__cvta_generic_to_shared(shared); }

__device__ void wait(unsigned long long* barrier, int parity) {
    asm volatile(
        "{\n.reg .pred done;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra DONE;\nbra AGAIN;\nDONE:\n}" ::"r"(at(barrier)), "r"(parity) : "memory");
}

extern "C" __global__ void bulk_copy(const float* x, float* y, int tiles) {
    __shared__ __align__(128) float tile[2][256];
    __shared__ unsigned long long full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int i = 0; i < 2; ++i) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[i])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&empty[i])), "r"(blockDim.x));
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("fence.proxy.async.shared::cta;");
    }
    __syncthreads();
    const float* from = x + blockIdx.x * tiles * 256;
    for (int i = 0; i < tiles + 1; ++i) {
        if (i < tiles && threadIdx.x == 0) {
            int stage = i & 1;
            if (i >= 2) wait(&empty[stage], (i / 2 - 1) & 1);
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at(&full[stage])));
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(
                    at(tile[stage])),
                "l"(from + i * 256), "r"(at(&full[stage]))
                : "memory");
        }
        if (i == 0) continue;
        int stage = (i - 1) & 1;
        wait(&full[stage], (i - 1) / 2 & 1);
        y[(blockIdx.x * tiles + i - 1) * 256 + threadIdx.x] = -tile[stage][255 - threadIdx.x];
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&empty[stage])) : "memory");
    }
}

"""Kernels that use tensor cores, asynchronous copies and barriers in shared memory, with their references."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class TensorKernel:
    """A kernel, how it is launched, and what it computes."""

    entry: str
    source: str
    inputs: Callable[[], dict[str, Array]]
    expected: Callable[[Arrays], dict[str, Array]]
    outputs: tuple[str, ...]
    grid: int = 1
    block: int = 32
    scalars: tuple[int, ...] = ()
    rtol: float = 0.0
    atol: float = 0.0


def _random(seed: int, shape: tuple[int, ...], dtype: Any) -> Array:
    random = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.integer):
        return random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max + 1, shape, dtype)
    return random.standard_normal(shape).astype(dtype)


def _product(a: Array, b: Array) -> Array:
    return np.asarray(a.astype(np.float64) @ b.astype(np.float64))


# The small kernels whose PTX the instruction statistics come from.
_LDMATRIX = r"""
extern "C" __global__ void fragments(const unsigned* A, float* C) {
    __shared__ __align__(16) unsigned s[512];
    for (int i = threadIdx.x; i < 512; i += 32) s[i] = A[i];
    __syncthreads();
    unsigned a0, a1, a2, a3, b0, b1;
    unsigned p = (unsigned)__cvta_generic_to_shared(&s[(threadIdx.x % 16) * 8 + (threadIdx.x / 16) * 4]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(a0), "=r"(a1), "=r"(a2), "=r"(a3) : "r"(p));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];"
                 : "=r"(b0), "=r"(b1) : "r"(p + 512));
    float c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    int row = threadIdx.x / 4, column = threadIdx.x % 4 * 2;
    C[row * 8 + column] = c0;
    C[row * 8 + column + 1] = c1;
    C[(row + 8) * 8 + column] = c2;
    C[(row + 8) * 8 + column + 1] = c3;
}
"""


def _fragment_inputs() -> dict[str, Array]:
    return {"A": _random(1, (1024,), np.float16), "C": np.zeros((16, 8), np.float32)}


def _fragment_product(arrays: Arrays) -> dict[str, Array]:
    halves = arrays["A"].reshape(64, 16)
    return {"C": _product(halves[:16], halves[16:32, :8])}


_WMMA = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void warp_tiles(const half* A, const half* B, float* C, int K, int N) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    int row = blockIdx.x / (N / 16) * 16, column = blockIdx.x % (N / 16) * 16;
    for (int k = 0; k < K; k += 16) {
        wmma::load_matrix_sync(a, A + row * K + k, K);
        wmma::load_matrix_sync(b, B + k * N + column, N);
        wmma::mma_sync(c, a, b, c);
    }
    for (int i = 0; i < c.num_elements; i++) c.x[i] *= 0.5f;
    wmma::store_matrix_sync(C + row * N + column, c, N, wmma::mem_row_major);
}
"""


def _gemm_inputs(m: int, n: int, k: int, dtype: Any, out: Any) -> dict[str, Array]:
    return {
        "A": _random(2, (m, k), dtype),
        "B": _random(3, (k, n), dtype),
        "C": np.zeros((m, n), out),
    }


_CPASYNC = r"""
#include <cuda_pipeline.h>
extern "C" __global__ void two_stages(const float4* x, float4* y, int n) {
    __shared__ float4 s[2][128];
    int t = threadIdx.x, base = blockIdx.x * n;
    __pipeline_memcpy_async(&s[0][t], &x[base * 128 + t], 16);
    __pipeline_commit();
    for (int k = 0; k < n; k++) {
        if (k + 1 < n) __pipeline_memcpy_async(&s[(k + 1) & 1][t], &x[(base + k + 1) * 128 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        float4 v = s[k & 1][127 - t];
        v.x *= 2;
        y[(base + k) * 128 + t] = v;
        __syncthreads();
    }
}
"""


def _reversed_quads(arrays: Arrays) -> dict[str, Array]:
    quads = arrays["x"].reshape(-1, 128, 4)[:, ::-1].copy()
    quads[..., 0] *= 2
    return {"y": quads.reshape(arrays["y"].shape)}


_CPBAR = r"""
#include <cuda/barrier>
extern "C" __global__ void barrier_copy(const float* x, float* y) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ float s[256];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&s[threadIdx.x], &x[blockIdx.x * 256 + threadIdx.x], cuda::aligned_size_t<4>(4), bar);
    bar.arrive_and_wait();
    y[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
"""

_CUDA_PIPELINE = r"""
#include <cuda/pipeline>
#include <cooperative_groups.h>
extern "C" __global__ void staged(const int* x, int* y, int batches) {
    constexpr int kStages = 2;
    __shared__ int s[kStages][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipeline = cuda::make_pipeline(block, &state);
    for (int compute = 0, fetch = 0; compute < batches; ++compute) {
        for (; fetch < batches && fetch < compute + kStages; ++fetch) {
            pipeline.producer_acquire();
            int* to = &s[fetch % kStages][threadIdx.x];
            cuda::memcpy_async(to, &x[fetch * 64 + threadIdx.x], sizeof(int), pipeline);
            pipeline.producer_commit();
        }
        pipeline.consumer_wait();
        block.sync();
        y[compute * 64 + threadIdx.x] = 3 * s[compute % kStages][63 - threadIdx.x];
        block.sync();
        pipeline.consumer_release();
    }
}
"""

_GROUP_COPY = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
extern "C" __global__ void group_copy(const int* x, int* y) {
    __shared__ __align__(16) int s[256];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, x + blockIdx.x * 256, sizeof(s));
    cg::wait(block);
    for (int i = threadIdx.x; i < 256; i += blockDim.x) y[blockIdx.x * 256 + i] = s[255 - i];
}
"""

_BULK_BARRIER = r"""
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void bulk_barrier(const int* x, int* y) {
    __shared__ __align__(16) int s[256];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        cuda::device::experimental::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::memcpy_async(s, x + blockIdx.x * 256, cuda::aligned_size_t<16>(sizeof(s)), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, 0);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 256; i += blockDim.x) y[blockIdx.x * 256 + i] = s[255 - i];
}
"""

_SPECIALISED = r"""
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
// The first warp fetches, the others compute; two barriers per stage hand the buffers over.
extern "C" __global__ void specialised(const int* x, int* y, int batches) {
    __shared__ int s[2][96];
    __shared__ barrier full[2], empty[2];
    if (threadIdx.x < 2) {
        init(&full[threadIdx.x], blockDim.x);
        init(&empty[threadIdx.x], blockDim.x);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < batches; ++i) {
            empty[i & 1].arrive_and_wait();
            for (int j = threadIdx.x; j < 96; j += 32) s[i & 1][j] = x[i * 96 + j];
            (void)full[i & 1].arrive();
        }
    } else {
        int t = threadIdx.x - 32;
        (void)empty[0].arrive();
        (void)empty[1].arrive();
        for (int i = 0; i < batches; ++i) {
            full[i & 1].arrive_and_wait();
            y[i * 96 + t] = s[i & 1][95 - t] + i;
            (void)empty[i & 1].arrive();
        }
    }
}
"""


def _batches(arrays: Arrays) -> dict[str, Array]:
    rows = arrays["x"].reshape(-1, 96)[:, ::-1]
    return {"y": (rows + np.arange(len(rows))[:, None]).reshape(-1)}


CORPUS_KERNELS = [
    TensorKernel("fragments", _LDMATRIX, _fragment_inputs, _fragment_product, ("C",), atol=1e-5),
    TensorKernel(
        "warp_tiles",
        _WMMA,
        lambda: _gemm_inputs(48, 32, 64, np.float16, np.float32),
        lambda arrays: {"C": 0.5 * _product(arrays["A"], arrays["B"])},
        ("C",),
        grid=6,
        scalars=(64, 32),
        atol=2e-5,
    ),
    TensorKernel(
        "two_stages",
        _CPASYNC,
        lambda: {"x": _random(4, (3 * 5 * 512,), np.float32), "y": np.zeros(3 * 5 * 512, np.float32)},
        _reversed_quads,
        ("y",),
        grid=3,
        block=128,
        scalars=(5,),
    ),
    TensorKernel(
        "barrier_copy",
        _CPBAR,
        lambda: {"x": _random(5, (512,), np.float32), "y": np.zeros(512, np.float32)},
        lambda arrays: {"y": arrays["x"].reshape(2, 256)[:, ::-1].reshape(-1)},
        ("y",),
        grid=2,
        block=256,
    ),
    TensorKernel(
        "staged",
        _CUDA_PIPELINE,
        lambda: {"x": _random(6, (320,), np.int16).astype(np.int32), "y": np.zeros(320, np.int32)},
        lambda arrays: {"y": 3 * arrays["x"].reshape(5, 64)[:, ::-1].reshape(-1)},
        ("y",),
        block=64,
        scalars=(5,),
    ),
]


def _source(name: str) -> str:
    return (Path(__file__).parent / "tensor_sources" / f"{name}.cu").read_text()


def _exact(arrays: Arrays) -> dict[str, Array]:
    return {"C": arrays["A"].astype(np.int64) @ arrays["B"].astype(np.int64).T}


def _tf32(values: Array) -> Array:
    bits = values.view(np.uint32)
    return ((bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


KERNELS = [
    TensorKernel(
        "gemm_f16",
        _source("gemm_f16"),
        lambda: _gemm_inputs(70, 88, 72, np.float16, np.float32),
        lambda arrays: {"C": _product(arrays["A"], arrays["B"])},
        ("C",),
        grid=4,
        block=128,
        scalars=(70, 88, 72),
        atol=5e-5,
    ),
    TensorKernel(
        "gemm_wmma",
        _source("gemm_wmma"),
        lambda: _gemm_inputs(64, 96, 64, ml_dtypes.bfloat16, np.float32),
        lambda arrays: {"C": _product(arrays["A"], arrays["B"])},
        ("C",),
        grid=6,
        block=128,
        scalars=(96, 64),
        atol=5e-5,
    ),
    TensorKernel(
        "gemm_int8",
        _source("gemm_int8"),
        lambda: {
            "A": _random(7, (32, 64), np.int8),
            "B": _random(8, (24, 64), np.int8),
            "C": np.zeros((32, 24), np.int32),
        },
        _exact,
        ("C",),
        grid=6,
        scalars=(24, 64),
    ),
    TensorKernel(
        "gemm_tf32",
        _source("gemm_tf32"),
        lambda: _gemm_inputs(32, 24, 40, np.float32, np.float32),
        lambda arrays: {"C": _product(_tf32(arrays["A"]), _tf32(arrays["B"]))},
        ("C",),
        grid=6,
        scalars=(24, 40),
        atol=2e-5,
    ),
    TensorKernel(
        "bulk_copy",
        _source("bulk_copy"),
        lambda: {"x": _random(9, (2 * 5 * 256,), np.float32), "y": np.zeros(2 * 5 * 256, np.float32)},
        lambda arrays: {"y": -arrays["x"].reshape(-1, 256)[:, ::-1].reshape(-1)},
        ("y",),
        grid=2,
        block=256,
        scalars=(5,),
    ),
    *(
        TensorKernel(
            entry,
            source,
            lambda: {"x": _random(10, (512,), np.int32), "y": np.zeros(512, np.int32)},
            lambda arrays: {"y": arrays["x"].reshape(2, 256)[:, ::-1].reshape(-1)},
            ("y",),
            grid=2,
            block=64,
        )
        for entry, source in (("group_copy", _GROUP_COPY), ("bulk_barrier", _BULK_BARRIER))
    ),
    TensorKernel(
        "specialised",
        _SPECIALISED,
        lambda: {"x": _random(11, (480,), np.int16).astype(np.int32), "y": np.zeros(480, np.int32)},
        _batches,
        ("y",),
        block=128,
        scalars=(5,),
    ),
]

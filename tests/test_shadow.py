"""The float64 shadow of whole kernels against NumPy float64."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from harness_client import Served
from shadowed_kernels import EXACT, RESEEDED, UNDECIDED, Shadowed, bfloat16, run_shadowed

from pytest_cudaopt.toolchain import find_toolchain

INCLUDE = find_toolchain().include
FRONT_ENDS = pytest.mark.parametrize("front_end", ["compute_90", "compute_100"])


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with Served() as harness:
        yield harness


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)


def exact(literal: float) -> float:
    """Return the float64 value of a float32 literal."""
    return float(np.float32(literal))


def normal(rng, *shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


def elementwise(served, expression, x, front_end="compute_90") -> Shadowed:
    source = f"""extern "C" __global__ void k(const float* x, float* y, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {{ float v = x[i]; y[i] = {expression}; }}
    }}"""
    arguments = {"x": x, "y": np.zeros_like(x), "n": x.size}
    options = (f"-arch={front_end}",)
    return run_shadowed(served, source, arguments, (-(-x.size // 256),), (256,), options=options)


ERF = np.vectorize(math.erf)
# Their polynomials are of float32 grade, and so is a shadow that begins anew from a rounded value.
FUNCTIONS = [
    ("expf(v)", np.exp, 1e-13),
    ("logf(fabsf(v) + 0.001f)", lambda v: np.log(np.abs(v) + exact(0.001)), 1e-7),
    ("sinf(v)", np.sin, 1e-7),
    ("cosf(v * 65536.f)", lambda v: np.cos(v * 65536), 1e-7),
    ("powf(fabsf(v), 1.5f)", lambda v: np.abs(v) ** 1.5, 1e-7),
    ("erff(v)", ERF, 1e-7),
    ("tanhf(v)", np.tanh, 2e-7),
    ("log1pf(fabsf(v))", lambda v: np.log1p(np.abs(v)), 1e-7),
    ("expm1f(v)", np.expm1, 1e-7),
    ("sqrtf(fabsf(v)) / (v * v + 1.f)", lambda v: np.sqrt(np.abs(v)) / (v * v + 1), 1e-15),
    ("copysignf(v * v + 0.1f, v)", lambda v: np.copysign(v * v + exact(0.1), v), 1e-15),
    ("-fabsf(v * v - 3.f)", lambda v: -np.abs(v * v - 3), 1e-15),
    ("fmaxf(v * 0.1f, 0.f)", lambda v: np.maximum(v * exact(0.1), 0), 1e-15),
    (
        "0.5f * v * (1.f + erff(v * 0.70710678f))",
        lambda v: 0.5 * v * (1 + ERF(v * exact(0.70710678))),
        1e-7,
    ),
    ("__expf(v * 0.1f)", lambda v: np.exp(v * exact(0.1)), 1e-6),
]


@FRONT_ENDS
@pytest.mark.parametrize(("expression", "reference", "bound"), FUNCTIONS)
def test_functions_that_round_and_move_bits_on_purpose_stay_near_their_reference(
    served, rng, expression, reference, bound, front_end
):
    x = normal(rng, 2000) * np.float32(5)
    ran = elementwise(served, expression, x, front_end)
    assert ran.gap("y", reference(x.astype(np.float64))) < bound
    assert ran.rounding("y") < 1e-6
    assert set(np.unique(ran.states["y"])) <= {EXACT, RESEEDED}


SGEMM = """
#define T 16
extern "C" __global__ void k(const float* a, const float* b, float* y, int n) {
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += T) {
        as[ty][tx] = a[row * n + k0 + tx];
        bs[ty][tx] = b[(k0 + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++) sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    y[row * n + col] = sum;
}
"""


def sgemm(served, rng, source, front_end="compute_90"):
    a, b = normal(rng, 256, 256), normal(rng, 256, 256)
    arguments = {"a": a, "b": b, "y": np.zeros_like(a), "n": 256}
    options = (f"-arch={front_end}",)
    ran = run_shadowed(served, source, arguments, (16, 16), (16, 16), options=options)
    return ran, a.astype(np.float64) @ b


@FRONT_ENDS
def test_the_shadow_of_sgemm_is_the_product_in_float64(served, rng, front_end):
    ran, product = sgemm(served, rng, SGEMM, front_end)
    assert ran.gap("y", product) < 1e-13
    assert 1e-8 < ran.rounding("y") < 1e-5
    assert (ran.states["y"] == EXACT).all()
    assert "rounding" not in ran.launch


def test_one_dropped_term_of_many_shows_beside_rounding(served, rng):
    dropped = SGEMM.replace(
        "sum += as[ty][k] * bs[k][tx]", "if (k0 + k != 9 || col != 3) sum += as[ty][k] * bs[k][tx]"
    )
    ran, product = sgemm(served, rng, dropped)
    gap = np.abs(ran.shadows["y"] - product)
    assert (gap[:, 3] > 1e-9).any()
    assert np.delete(gap, 3, axis=1).max() < 1e-12


WELFORD_SUM = """
__device__ float sum(float v) {
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    return v;
}
extern "C" __global__ void k(const float* x, float* y, int cols, float eps) {
    const float* row = x + blockIdx.x * cols;
    float mean = 0, m2 = 0, n = 0;
    for (int c = threadIdx.x; c < cols; c += 32) {
        n += 1;
        float d = row[c] - mean;
        mean += d / n;
        m2 += d * (row[c] - mean);
    }
    float all = sum(mean * n) / cols;
    float d = mean - all;
    float var = sum(m2 + d * d * n) / cols;
    float scale = rsqrtf(var + eps);
    for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = (row[c] - all) * scale;
}
"""
NAIVE_VARIANCE = """
extern "C" __global__ void k(const float* x, float* y, int cols, float eps) {
    const float* row = x + blockIdx.x * cols;
    float s = 0, q = 0;
    for (int c = threadIdx.x; c < cols; c += 32) { s += row[c]; q += row[c] * row[c]; }
    for (int o = 16; o; o >>= 1) { s += __shfl_xor_sync(~0u, s, o); q += __shfl_xor_sync(~0u, q, o); }
    float mean = s / cols;
    float square = q / cols;
    float var = square - mean * mean;
    float scale = rsqrtf(var + eps);
    for (int c = threadIdx.x; c < cols; c += 32) y[blockIdx.x * cols + c] = (row[c] - mean) * scale;
}
"""


def layernorm(served, rng, source, eps=1e-5, spread=1.0):
    x = (rng.standard_normal((16, 1000)) * spread + 100 * spread).astype(np.float32)
    arguments = {"x": x, "y": np.zeros_like(x), "cols": 1000, "eps": np.float32(eps)}
    ran = run_shadowed(served, source, arguments, (16,))
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    return ran, centred / np.sqrt(wide.var(axis=1, keepdims=True) + exact(1e-5))


@pytest.mark.parametrize("source", [WELFORD_SUM, NAIVE_VARIANCE], ids=["welford", "naive"])
def test_both_ways_to_a_variance_are_exact_in_the_shadow(served, rng, source):
    ran, expected = layernorm(served, rng, source)
    assert ran.gap("y", expected) < 1e-10


def test_the_line_that_cancels_is_named(served, rng):
    ran, _ = layernorm(served, rng, NAIVE_VARIANCE)
    line = NAIVE_VARIANCE.splitlines().index("    float var = square - mean * mean;") + 1
    assert ran.launch["rounding"]["line"] == line
    assert ran.launch["rounding"]["mean_growth"] > 1e-5
    assert ran.rounding("y") > 1e-6


def test_a_missing_epsilon_shows_although_tolerances_accept_it(served, rng):
    ran, expected = layernorm(served, rng, WELFORD_SUM, eps=0.0)
    assert np.allclose(ran.arrays["y"], expected, rtol=1e-4, atol=1e-4)
    assert ran.gap("y", expected) > 1e-6


def test_a_compensated_sum_is_exact_and_nearly_so_in_float32(served, rng):
    kahan = """extern "C" __global__ void k(const float* x, float* y, int n) {
        float s = 0, c = 0;
        for (int i = threadIdx.x; i < n; i += 32) { float d = x[i] - c, t = s + d; c = (t - s) - d; s = t; }
        y[threadIdx.x] = s;
    }"""
    x = np.abs(normal(rng, 64_000)) + np.float32(1)
    ran = run_shadowed(served, kahan, {"x": x, "y": np.zeros(32, np.float32), "n": x.size})
    assert ran.gap("y", x.astype(np.float64).reshape(-1, 32).sum(axis=0)) < 1e-14
    assert ran.rounding("y") < 1e-7


def test_sums_by_atomics_and_by_compare_and_swap_add_in_the_shadow(served, rng):
    source = """extern "C" __global__ void k(const float* x, float* y, int n) {
        float v = x[threadIdx.x] * 0.1f;
        atomicAdd(y, v);
        unsigned* at = (unsigned*)y + 1;
        for (int lane = 0; lane < 32; lane++) if (lane == threadIdx.x % 32) {
            unsigned old = *at, seen;
            do {
                seen = old;
                old = atomicCAS(at, seen, __float_as_uint(v + __uint_as_float(seen)));
            } while (seen != old);
        }
    }"""
    x = normal(rng, 32)
    ran = run_shadowed(served, source, {"x": x, "y": np.zeros(2, np.float32), "n": 32})
    total = (x.astype(np.float64) * exact(0.1)).sum()
    assert ran.shadows["y"] == pytest.approx([total, total], rel=1e-14)


HALVES = {
    "half": (
        np.float16,
        "cuda_fp16.h",
        "__half",
        "y[i] = __hadd(__hmul(x[i], x[i]), __float2half(1.5f))",
        lambda v: v * v + 1.5,
    ),
    "half2": (
        np.float16,
        "cuda_fp16.h",
        "__half2",
        "__half2 v = __hfma2(x[i], x[i], __float2half2_rn(0.5f)); y[i] = __hmul2(__lowhigh2highlow(v), v)",
        lambda v: (v * v + 0.5) * (v * v + 0.5).reshape(-1, 2)[:, ::-1].reshape(-1),
    ),
    "bf16": (
        bfloat16,
        "cuda_bf16.h",
        "__nv_bfloat16",
        "float v = __bfloat162float(x[i]); y[i] = __float2bfloat16(v * v * 1.1f + 0.3f)",
        lambda v: v * v * exact(1.1) + exact(0.3),
    ),
    "bf162": (
        bfloat16,
        "cuda_bf16.h",
        "__nv_bfloat162",
        "y[i] = __hfma2(x[i], x[i], x[i])",
        lambda v: v * v + v,
    ),
}


@FRONT_ENDS
@pytest.mark.parametrize("case", HALVES)
def test_floats_of_16_bits_have_shadows_too(served, rng, case, front_end):
    dtype, header, ctype, body, reference = HALVES[case]
    x = normal(rng, 1024, dtype=dtype)
    source = f"""#include <{header}>
    extern "C" __global__ void k(const {ctype}* x, {ctype}* y, int n) {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) {{ {body}; }}
    }}"""
    pairs = 2 if ctype.endswith("2") else 1
    arguments = {"x": x, "y": np.zeros_like(x), "n": x.size // pairs}
    ran = run_shadowed(
        served, source, arguments, (4,), (256,), include=INCLUDE, options=(f"-arch={front_end}",)
    )
    assert ran.gap("y", reference(x.astype(np.float64))) < 1e-15
    assert 1e-5 < ran.rounding("y") < 0.02


def test_an_argmax_with_ties_decides_as_float64_does(served, rng):
    source = """extern "C" __global__ void k(const float* x, float* y, int* yi, int n) {
        float most = -1e30f; int at = 0;
        for (int i = 0; i < n; i++) {
            float v = x[i * 32 + threadIdx.x] * 1.1f;
            if (v > most) { most = v; at = i; }
        }
        y[threadIdx.x] = most; yi[threadIdx.x] = at;
    }"""
    x = normal(rng, 64, 32)
    x[10] = x[20]
    y, at = np.zeros(32, np.float32), np.zeros(32, np.int32)
    ran = run_shadowed(served, source, {"x": x, "y": y, "yi": at, "n": 64})
    assert ran.gap("y", (x.astype(np.float64) * exact(1.1)).max(axis=0)) < 1e-15
    assert (ran.states["y"] == EXACT).all()


def test_a_bin_that_rounding_decides_is_undecided_and_others_are_not(served):
    x = np.full(32, 0.5, np.float32)
    x[7] = -1e-9
    ran = elementwise(served, "floorf(v + 2.f) * 0.1f", x)
    assert ran.states["y"][7] == UNDECIDED
    assert (np.delete(ran.states["y"], 7) == RESEEDED).all()


def test_quantised_values_begin_anew_from_the_integer(served, rng):
    x = normal(rng, 256)
    ran = elementwise(served, "(float)(signed char)__float2int_rn(v * 20.f) * 0.05f", x)
    steps = np.rint(x.astype(np.float64) * 20)
    decided = ran.states["y"] == RESEEDED
    assert decided.sum() > 250
    assert np.array_equal(ran.shadows["y"][decided], (steps * exact(0.05))[decided])


@pytest.mark.parametrize("threads", [1, 3])
def test_the_shadow_is_the_same_for_any_number_of_threads(served, rng, threads):
    one, _ = layernorm(served, np.random.default_rng(1), NAIVE_VARIANCE)
    x = (np.random.default_rng(1).standard_normal((16, 1000)) + 100).astype(np.float32)
    arguments = {"x": x, "y": np.zeros_like(x), "cols": 1000, "eps": np.float32(1e-5)}
    many = run_shadowed(served, NAIVE_VARIANCE, arguments, (16,), sim={"threads": threads})
    assert np.array_equal(one.shadows["y"], many.shadows["y"])
    assert one.launch["rounding"] == many.launch["rounding"]

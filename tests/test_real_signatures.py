"""Kernels as people have them, through pytest: leading dimensions, null pointers, constants, structs."""

from __future__ import annotations

import pytest

ADD_BIAS = """\
// @launch grid=(rows) block=(32)
extern "C" __global__ void add_bias(const float* x, const float* bias, float* y, int rows, int cols,
                                    long long ld) {
    for (int c = threadIdx.x; c < cols; c += 32)
        y[blockIdx.x * (cols + 3) + c] = x[blockIdx.x * ld + c] + (bias ? bias[c] : 0.0f);
}
"""
TEST_ADD_BIAS = """\
from pytest_cudaopt import In, Out, Scalar, case, f32, i32, i64, kernel

@kernel("add_bias.cu", sizes=["pad"], derive={"ld": "cols + pad"}, cases=[
    case(rows=3, cols=17, pad=5, measure=True),
    case(rows=3, cols=17, pad=5, bias=None),
    case(rows=1, cols=1, pad=0),
    case(rows=0, cols=4, pad=1),
])
def add_bias(x=In(f32, "rows", "cols", strides=("ld", 1)), bias=In(f32, "cols", optional=True),
             y=Out(f32, "rows", "cols", strides=("cols + 3", 1)), rows=i32, cols=i32,
             ld=Scalar(i64, derive="cols + pad")):
    y[...] = x if bias is None else x + bias
"""
SMOOTH = """\
// @launch grid=(cdiv(n, 64)) block=(64)
namespace smoothing {
__constant__ float taps[3];
__device__ int shift;
__global__ void smooth(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = taps[0] * x[i] + taps[1] * x[i + shift] + taps[2];
}
}
"""
TEST_SMOOTH = """\
from pytest_cudaopt import Constant, In, Out, case, f32, i32, integers, kernel

@kernel("smooth.cu", entry="smoothing::smooth", cases=[case(n=100), case(n=5000, measure=True)])
def smooth(taps=Constant(f32, 3, symbol="smoothing::taps"), x=In(f32, "n + 1"), y=Out(f32, "n"), n=i32,
           shift=Constant(i32, 1, symbol="smoothing::shift", values=integers(1, 1))):
    y[...] = taps[0] * x[:-1] + taps[1] * x[1:] + taps[2]
"""
BLEND = """\
// @launch grid=(cdiv(n, 64)) block=(64)
#include <cuda_fp16.h>
namespace ns {
struct Params {
    const __half* a;
    float weight;
    const float* __restrict__ b;
    float* y;
    int n;
    long long step;
};
}
extern "C" __global__ void blend(ns::Params p, int offset) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < p.n) p.y[i] = p.weight * __half2float(p.a[i]) + (p.b ? p.b[i * p.step + offset] : 0.0f);
}
"""
TEST_BLEND = """\
from pytest_cudaopt import In, Out, Scalar, Struct, case, f16, f32, i32, i64, kernel

@kernel("blend.cu", cases=[case(n=100, measure=True), case(n=100, b=None)])
def blend(p=Struct("ns::Params", a=In(f16, "n"), weight=Scalar(f32, 0.5),
                   b=In(f32, "2*n + 1", optional=True), y=Out(f32, "n"), n=i32,
                   step=Scalar(i64, derive="2")),
          offset=Scalar(i32, 1), *, a, weight, b, y, n, step):
    y[...] = weight * a + (0 if b is None else b[offset::step][:n])
"""
LANES = """\
// @launch grid=(cdiv(n, 256)) block=(64)
#include <cuda_fp16.h>
extern "C" __global__ void lanes(const float4* x, const __half2* h, float4* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (4 * i >= n) return;
    float2 low = __half22float2(h[2 * i]), high = __half22float2(h[2 * i + 1]);
    float4 v = x[i];
    y[i] = make_float4(v.x + low.x, v.y + low.y, v.z + high.x, v.w + high.y);
}
"""
TEST_LANES = """\
from pytest_cudaopt import In, Out, case, f16, f32, i32, kernel

@kernel("lanes.cu", where=["n % 4 == 0"], cases=[case(n=64), case(n=1000, measure=True)])
def lanes(x=In(f32, "n"), h=In(f16, "n"), y=Out(f32, "n"), n=i32):
    y[...] = x + h
"""
SOURCES = {
    "lanes": (LANES, TEST_LANES),
    "add_bias": (ADD_BIAS, TEST_ADD_BIAS),
    "smooth": (SMOOTH, TEST_SMOOTH),
    "blend": (BLEND, TEST_BLEND),
}


@pytest.fixture
def written(project):
    """Replace the project's kernel by the one of that name."""

    def write(name):
        (project.path / "scale.cu").unlink()
        (project.path / "test_scale.py").unlink()
        source, test = SOURCES[name]
        project.write(f"{name}.cu", source)
        project.write(f"test_{name}.py", test)
        return project

    return write


@pytest.mark.parametrize(("name", "passed"), [("add_bias", 8), ("smooth", 6), ("blend", 6), ("lanes", 6)])
def test_a_right_kernel_passes_and_is_timed(written, name, passed):
    result = written(name).run()
    result.assert_outcomes(passed=passed)
    result.stdout.fnmatch_lines(["*modelled*"])


@pytest.mark.parametrize(
    ("name", "old", "new", "failed", "words"),
    [
        # One column more than there is: into the gap, then past the last row.
        ("add_bias", "c < cols;", "c < cols + 2;", 4, "*add_bias*"),
        ("add_bias", "x[blockIdx.x * ld + c]", "x[blockIdx.x * cols + c]", 3, "WRONG: y: *"),
        ("add_bias", "+ (bias", "+ 1.0f + (bias", 4, "*rows=3, cols=17, pad=5, bias=None, launched with*"),
        ("add_bias", "(bias ? bias[c] : 0.0f)", "bias[c]", 2, "*(a null or corrupted pointer)*"),
        ("add_bias", "(bias ? bias[c] : 0.0f)", "0.0f", 3, "WRONG: y: *"),
        ("smooth", "taps[2]", "taps[1]", 3, "WRONG: y: *"),
        ("blend", "p.weight *", "2 * p.weight *", 3, "WRONG: y: *"),
        ("blend", "p.a[i]", "p.a[i + 1]", 3, "*'a'*"),
        ("lanes", "v.w + high.y", "v.w", 3, "WRONG: y: *"),
        ("lanes", "const __half2* h", "const float2* h", 6, "*error: no suitable*"),
    ],
)
def test_a_wrong_one_fails(written, name, old, new, failed, words):
    project = written(name)
    project.edit(f"{name}.cu", old, new)
    result = project.run()
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] == failed
    result.stdout.fnmatch_lines([words])


def test_a_write_between_the_elements_is_found_where_no_guard_is_hit(written):
    project = written("add_bias")
    project.edit("add_bias.cu", "    for (", "    if (blockIdx.x == 0) y[cols + 1] = 0.0f;\n    for (")
    project.edit(
        "test_add_bias.py", "    case(rows=1, cols=1, pad=0),\n    case(rows=0, cols=4, pad=1),\n", ""
    )
    result = project.run("-k", "check")
    result.assert_outcomes(failed=2, deselected=4)
    result.stdout.fnmatch_lines(["*wrote between the elements of 'y'*the first at 18*"])


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        (
            "blend",
            "    float weight;\n",
            "    double weight;\n",
            "*struct 'ns::Params' is not as declared: member 'weight' is 'double', expected 'float'*",
        ),
        (
            "blend",
            "    float weight;\n    const float* __restrict__ b;\n",
            "    const float* __restrict__ b;\n    float weight;\n",
            "*struct 'ns::Params' is not as declared: member 'weight' is at byte 16, expected 8; member 'b' "
            "is at byte 8, expected 16*",
        ),
        (
            "blend",
            "    int n;\n",
            "    int n, more[4];\n",
            "*struct 'ns::Params' is not as declared: it has 64 bytes, expected 48*",
        ),
        (
            "lanes",
            "float4* y",
            "float3* y",
            "*kernel 'lanes' is not as declared: parameter 3 is 'float3 [*]', expected 'float[*]'*",
        ),
        ("blend", "int n;", "int m;", '*class "ns::Params" has no member "n"*'),
        ("smooth", "float taps[3]", "double taps[3]", "*variable 'smoothing::taps' is not as declared: its*"),
        (
            "smooth",
            "float taps[3]",
            "float taps[5]",
            "*variable 'smoothing::taps' has 20 bytes, expected the 12*",
        ),
    ],
)
def test_a_source_that_is_not_as_declared_is_refused_in_words(written, name, old, new, words):
    project = written(name)
    project.edit(f"{name}.cu", old, new)
    if new == "float3* y":
        project.edit("lanes.cu", "y[i] = make_float4(", "make_float4(")
    if new == "int m;":
        project.edit("blend.cu", "p.n)", "p.m)")
    result = project.run()
    outcomes = result.parseoutcomes()
    # Where it fails only when launched, neither latency nor properties are asked for, and `sanitize` says no
    # more than that.
    assert (outcomes["failed"], outcomes.get("skipped", 0)) == ((3, 3) if new == "float taps[5]" else (6, 0))
    result.stdout.fnmatch_lines([words])


def test_a_variable_that_is_not_there_is_named(written):
    project = written("smooth")
    project.edit("test_smooth.py", "smoothing::taps", "smoothing::weights")
    result = project.run()
    result.assert_outcomes(failed=6)
    result.stdout.fnmatch_lines(
        ["*variable 'smoothing::weights' is not as declared: *no member \"weights\"*"]
    )


def test_ids_say_which_arrays_are_absent(written):
    result = written("add_bias").run("--collect-only", "-q")
    result.stdout.fnmatch_lines(
        ["*[[]check-rows3-cols17-pad5]", "*[[]check-rows3-cols17-pad5-no_bias]"], consecutive=True
    )

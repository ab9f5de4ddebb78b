"""Features of a declaration in one kernel: each works with the others, or is refused in words."""

from __future__ import annotations

import pytest

HEAD = """\
import numpy as np
from pytest_cudaopt import *
from pytest_cudaopt import (
    Constant, In, Out, Scalar, Struct, bf16, bool_, case, f8e5m2, f16, f32, i8, i32, integers, kernel, u8)

"""
# By name: a source, a declaration, and how many items pass.
RIGHT = {
    "the region of a kernel comes before that of its entry": (
        """\
// @cudaopt begin twice
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
// @cudaopt end
// @cudaopt begin thrice
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
}
// @cudaopt end
""",
        """\
@kernel("k.cu", entry="twice", cases=[case(n=100)])
def thrice(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = 3 * x
""",
        2,
    ),
    "a reference kernel has a region of its own": (
        """\
// @cudaopt begin fast
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void fast(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = x[i] + x[i];
}
// @cudaopt end
// @cudaopt begin naive
// @launch grid=(1) block=(1)
extern "C" __global__ void naive(const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = 2 * x[i];
}
// @cudaopt end
""",
        """\
@kernel("k.cu", cases=[case(n=100)], reference="k.cu::naive")
def fast(x=In(f32, "n"), y=Out(f32, "n"), n=i32): ...
""",
        2,
    ),
    "elements of one byte are kept": (
        """\
// @launch grid=(1) block=(32)
extern "C" __global__ void every_third(unsigned char* y, signed char* z, bool* b, int n) {
    for (int i = 3 * threadIdx.x; i < n; i += 96) y[i] = z[i] = b[i] = 1;
}
""",
        """\
@kernel("k.cu", cases=[case(n=100)])
def every_third(y=Out(u8, "n", unwritten="kept"), z=Out(i8, "n", unwritten="kept"),
                b=Out(bool_, "n", unwritten="kept"), n=i32):
    y[::3] = z[::3] = b[::3] = 1
""",
        2,
    ),
    "floats of eight bits have strides": (
        """\
// @launch grid=(1) block=(32)
extern "C" __global__ void copy(const unsigned char* x, unsigned char* y, int n) {
    for (int i = threadIdx.x; i < n; i += 32) y[2 * i] = x[3 * i];
}
""".replace("unsigned char", "__nv_fp8_e5m2").replace("// @launch", "#include <cuda_fp8.h>\n// @launch"),
        """\
@kernel("k.cu", cases=[case(n=100)])
def copy(x=In(f8e5m2, "n", strides=(3,)), y=Out(f8e5m2, "n", strides=(2,)), n=i32):
    y[...] = x
""",
        2,
    ),
    "fuzzing leaves the extents of variables and spaced braces alone": (
        """\
// @launch grid=(cdiv(n, 64)) block=(64)
__constant__ float taps[4];
template <int K> __global__ void weigh(const float* x, float* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += taps[k];
    if (i < n) y[i] = sum * x[i];
}
""",
        """\
@kernel("k.cu", entry="weigh<{ k }>", sizes=["k"], cases=[case(n=100, k=4)])
def weigh(taps=Constant(f32, "k"), x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = taps.sum() * x
""",
        2,
    ),
    "accept= may ask for sizes that the kernel does not get": (
        """\
// @launch grid=(1) block=(1)
extern "C" __global__ void anything(int* y) { *y = 3; }
""",
        """\
def wrong(y, most):
    return y >= most

@kernel("k.cu", sizes=["most"], cases=[case(most=4)], domain={"most": (4, 9)}, accept=wrong)
def anything(y=Out(i32, 1)): ...
""",
        2,
    ),
    "a member of a struct may be drawn by anything": (
        """\
// @launch grid=(cdiv(n, 64)) block=(64)
struct P { const int* x; int* y; };
extern "C" __global__ void copy(P p, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) p.y[i] = p.x[i];
}
""",
        """\
class Ones:
    __hash__ = None

    def draw(self, drawing):
        return np.ones(drawing.shape, drawing.dtype.numpy)

@kernel("k.cu", cases=[case(n=100)])
def copy(p=Struct("P", x=In(i32, "n", values=Ones()), y=Out(i32, "n")), n=i32, *, x, y):
    y[...] = x
""",
        2,
    ),
    "sizes at which an expression has no value are not drawn": (
        """\
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void copy(const float* x, float* y, int n, int m) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = x[i];
}
""",
        """\
@kernel("k.cu", cases=[case(n=100, m=4)], derive={"share": "n // (m - 3)"})
def copy(x=In(f32, "n"), y=Out(f32, "n"), n=i32, m=i32):
    y[...] = x
""",
        2,
    ),
}
NAIVE = '@kernel("k.cu", entry="fast<{T}>", types={"T": (f16, bf16)}, cases=[case(n=1)], reference="k.cu::'
WRONG = {
    "a reference for all dtypes": (
        NAIVE + 'naive")\ndef fast(x=In("T", "n"), y=Out("T", "n"), n=i32): ...\n',
        "*expected  {T} in it, since T may be f16 or bf16*",
    ),
    "a reference's brace": (
        NAIVE + 'naive<{X}>")\ndef fast(x=In("T", "n"), y=Out("T", "n"), n=i32): ...\n',
        "*entry='naive<{X}>'*",
    ),
    "a struct's brace": (
        '@kernel("k.cu", cases=[case(n=1)])\n'
        'def k(p=Struct("P<{d}>", y=Out(f32, "n"), n=i32), *, y, n): ...\n',
        "*'P<{d}>' of parameter 'y'*",
    ),
    "a variable's brace": (
        '@kernel("k.cu", cases=[case(n=1)])\n'
        'def k(c=Constant(f32, 1, symbol="c<{n}>"), y=Out(f32, "n"), n=i32): ...\n',
        "*'c<{n}>' of parameter 'c'*",
    ),
    "units in the last place of integers": (
        '@kernel("k.cu", entry="k<{T}>", types={"T": (f32, i32)}, cases=[case(n=1)])\n'
        'def k(y=Out("T", "n", ulp=2), n=i32): ...\n',
        "*ulp=*an output of floats*",
    ),
    "two structs of a type": (
        '@kernel("k.cu", cases=[case(n=1)])\n'
        'def k(a=Struct("V", x=Out(f32, "n")), b=Struct("V", x=Out(f32, "n")), n=i32, *, x): ...\n',
        "*of 'V' a kernel may have one parameter*",
    ),
}


def written(project, test: str, source: str = "") -> object:
    (project.path / "scale.cu").unlink()
    (project.path / "test_scale.py").unlink()
    project.write("k.cu", source)
    project.write("test_k.py", HEAD + test)
    return project


@pytest.mark.parametrize("name", RIGHT)
def test_they_work_together(project, name: str) -> None:
    source, test, passed = RIGHT[name]
    written(project, test, source)
    project.run("--cudaopt-device=sim", "--cudaopt-fuzz-examples=40").assert_outcomes(passed=passed + 2)


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_declared_together_is_said(project, name: str) -> None:
    test, words = WRONG[name]
    written(project, test)
    result = project.run("--cudaopt-device=sim")
    result.assert_outcomes(errors=1)
    text = result.stdout.str().replace("\n", " ")
    for word in words.strip("*").split("*"):
        assert word in text


def test_a_cooperative_draw_that_the_device_cannot_hold_is_discarded(project) -> None:
    source = """\
// @launch grid=(n) block=(64) shared=120000 cooperative
extern "C" __global__ void fill(float* y, int n) { if (threadIdx.x == 0) y[blockIdx.x] = 1; }
"""
    test = """\
@kernel("k.cu", cases=[case(n=4)], domain={"n": (1, 60000)})
def fill(y=Out(f32, "n"), n=i32):
    y[...] = 1
"""
    written(project, test, source)
    result = project.run("--cudaopt-device=sim", "--cudaopt-fuzz-examples=40")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["*fuzz*passed*discarded*"])

"""Every way to judge an output, in a project of a user's: a right kernel passes, a wrong one is told why."""

from __future__ import annotations

import pytest

TOP = """\
// @launch grid=(1) block=(1)
extern "C" __global__ void top(const float* x, int* places, int n) {
    int a = 0, b = 1;
    for (int i = 0; i < n; ++i) if (x[i] >= x[a]) a = i;
    b = a == 0 ? 1 : 0;
    for (int i = 0; i < n; ++i) if (i != a && x[i] >= x[b]) b = i;
    places[0] = a, places[1] = b;
}
"""
TEST_TOP = """\
import numpy as np
from pytest_cudaopt import In, Out, case, f32, i32, integers, kernel

def right(x, places):
    '''Any of equal values will do, but none twice.'''
    best = np.sort(x)[::-1][:2]
    return (x[places] != best) | (places[0] == places[1])

@kernel("top.cu", cases=[case(n=50)], domain={"n": (2, 100)}, accept=right)
def top(x=In(f32, "n", values=integers(0, 3)), places=Out(i32, 2), n=i32):
    ...
"""
PACKED = """\
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void unpack(const unsigned char* packed, int* y, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = (packed[i / 2] >> (i % 2 * 4)) & 15;
}
"""
TEST_PACKED = """\
from pytest_cudaopt import In, Out, case, i32, integers, kernel, u8

@kernel("unpack.cu", cases=[case(n=7), case(n=128)])
def unpack(packed=In(u8, "cdiv(n, 2)", values=integers(0, 255)), y=Out(i32, "n"), n=i32):
    '''Two numbers of 4 bits in each byte, the lower half first.'''
    y[0::2] = (packed & 15)[: len(y[0::2])]
    y[1::2] = (packed >> 4)[: len(y[1::2])]
"""
EIGHT = """\
#include <cuda_fp8.h>
// @launch grid=(cdiv(n, 64)) block=(64)
extern "C" __global__ void negate(const __nv_fp8_e4m3* x, __nv_fp8_e4m3* y, int n, __nv_fp8_e5m2 s) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i].__x = x[i].__x ^ 0x80 ^ (s.__x & 0x80);
}
"""
TEST_EIGHT = """\
from pytest_cudaopt import In, Out, Scalar, case, f8e4m3, f8e5m2, i32, kernel, normal

@kernel("negate.cu", cases=[case(n=1000)])
def negate(
    x=In(f8e4m3, "n", values=normal(0, 300)), y=Out(f8e4m3, "n", ulp=0), n=i32, s=Scalar(f8e5m2, 2.0)
):
    y[...] = -x if s > 0 else x
"""
MASKED = """\
// @launch grid=(1) block=(n)
extern "C" __global__ void rows(const float* x, float* y, int* count, int n, int valid) {
    int i = threadIdx.x;
    if (i < valid) y[i] = 3.0f * x[i];
    if (i == 0) *count = valid;
}
"""
TEST_MASKED = """\
from pytest_cudaopt import In, Out, case, f32, i32, kernel

@kernel("rows.cu", cases=[case(n=64, valid=40)], rtol=0.5, atol=5)
def rows(
    x=In(f32, "n"), y=Out(f32, "n", unwritten="kept", rtol="1e-8*sqrt(n)", atol=0, ulp=1),
    count=Out(i32, 1), n=i32, valid=i32,
):
    y[:valid] = 3 * x[:valid]
    count[0] = valid
"""
NAIVE = """\
// @launch grid=(1) block=(1)
__global__ void naive(const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = 2.0f * x[i];
}
"""
TEST_NAIVE = """\
from pytest_cudaopt import In, Out, case, f32, i32, kernel

@kernel("scale.cu", cases=[case(n=51)], reference="naive.cu::naive", rtol=0, atol=0)
def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32): ...
"""
PROJECTS = {
    "accept": {"top.cu": TOP, "test_top.py": TEST_TOP},
    "packed": {"unpack.cu": PACKED, "test_unpack.py": TEST_PACKED},
    "eight-bits": {"negate.cu": EIGHT, "test_negate.py": TEST_EIGHT},
    "masked": {"rows.cu": MASKED, "test_rows.py": TEST_MASKED},
    "kernel": {"naive.cu": NAIVE, "test_scale.py": TEST_NAIVE},
}


def judge(project, name, *edits):
    (project.path / "test_scale.py").unlink()
    for file, text in PROJECTS[name].items():
        project.write(file, text)
    for file, old, new in edits:
        project.edit(file, old, new)
    return project.run("-q", "--cudaopt-device", "sim")


@pytest.mark.parametrize("name", PROJECTS)
def test_a_right_kernel_passes(project, name):
    judge(project, name).assert_outcomes(passed=5 if name == "packed" else 4)


@pytest.mark.parametrize(
    ("name", "edits", "lines"),
    [
        # Another of equal values is as right: the reference would have had to choose one.
        ("accept", [("top.cu", ">= x[a]", "> x[a]"), ("top.cu", ">= x[b]", "> x[b]")], None),
        (
            "accept",
            [("top.cu", "i != a && ", "")],
            [
                "WRONG: places: 2 of 2 elements (100 %) are wrong by accept=right",
                "*accepted  what accept=right does not call wrong",
                "*worst     places[[]0[]]: got *",
            ],
        ),
        ("packed", [("unpack.cu", "& 15", "& 31")], ["WRONG: y: * differ from the reference"]),
        (
            "eight-bits",
            [("negate.cu", "^ 0x80 ^", "^ 0x81 ^")],
            ["WRONG: y: 1000 of 1000 *", "*accepted  exactly equal", "*, 1 ulp"],
        ),
        (
            "masked",
            [("rows.cu", "if (i < valid)", "")],
            ["WRONG: 24 of 64 elements of 'y' were overwritten, though the reference keeps them: y: *"],
        ),
        (
            "masked",
            [("rows.cu", "3.0f * x[i]", "3.000002f * x[i]")],
            ["*accepted  |got - expected| <= 0 + 8e-08 * |expected| or 1 ulp"],
        ),
        # Within what the kernel allows for floats.
        ("masked", [("rows.cu", "*count = valid", "*count = valid + 1")], ["WRONG: count: 1 of 1 *"]),
        (
            "kernel",
            [("scale.cu", "2.0f * x[i]", "2.0000002f * x[i]")],
            ["WRONG: y: 51 of 51 elements (100 %) differ from the reference"],
        ),
        (
            "kernel",
            [("naive.cu", "i < n", "i <= n")],
            ["REFERENCE: reference 'naive.cu::naive' of kernel 'scale'", "*got       illegal_address: *"],
        ),
    ],
)
def test_a_wrong_kernel_is_told_by_what(project, name, edits, lines):
    result = judge(project, name, *edits)
    if lines is None:
        result.assert_outcomes(passed=4)
        return
    assert result.ret == 1
    result.stdout.fnmatch_lines(lines)


def test_an_optimisation_has_a_kernel_as_its_reference(project):
    project.write("naive.cu", NAIVE)
    project.edit(
        "test_scale.py",
        "case(n=4096, measure=True)]",
        'case(n=4096, measure=True)], reference="naive.cu::naive"',
    )
    project.run("-q", "--cudaopt-device", "sim", "--optimize", "-k", "optimize").assert_outcomes(passed=1)
    assert (project.path / "results" / "run-001" / "reference.cu").read_text() == NAIVE

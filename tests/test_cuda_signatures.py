"""Strides, constants and structs on a GPU, on a driver made up for tests."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ["made_up_gpu_fixtures"]

HEAD = "from pytest_cudaopt import Constant, In, Out, Struct, case, f32, i32, kernel\n\n"
WEIGHS = (
    """\
// @launch grid=(1) block=(32)
__constant__ float weight[2];
extern "C" __global__ void weighs(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < n; i += 32) y[i] = weight[0] * x[i];
}
""",
    """\
@kernel("k.cu", cases=[case(n=40), case(n=4096, measure=True)])
def weighs(weight=Constant(f32, 2), x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    y[...] = weight[0] * x
""",
)
IN_STRUCT = (
    """\
// @launch grid=(1) block=(32)
struct Params { const float* x; float* y; int n; };
extern "C" __global__ void scale_in_struct(Params p) {
    for (int i = threadIdx.x; i < p.n; i += 32) p.y[i] = 2 * p.x[i];
}
""",
    """\
@kernel("k.cu", cases=[case(n=40), case(n=4096, measure=True)])
def scale_in_struct(p=Struct("Params", x=In(f32, "n"), y=Out(f32, "n"), n=i32), *, x, y, n):
    y[...] = 2 * x
""",
)
BY_COLUMNS = (
    """\
// @launch grid=(1) block=(32)
extern "C" __global__ void copies(const float* x, float* y, int n) {
    for (int i = threadIdx.x; i < n; i += 32) y[i] = x[i];
}
""",
    """\
@kernel("k.cu", cases=[case(n=40), case(n=4096, measure=True)], where=["n % 2 == 0"])
def copies(x=In(f32, 2, "n // 2", strides=(1, 2)), y=Out(f32, 2, "n // 2", strides=(1, 2)), n=i32):
    y[...] = x
""",
)


def write(project, source: str, test: str) -> None:
    for name in ("scale.cu", "test_scale.py"):
        Path(project.path / name).unlink()
    project.write("k.cu", source)
    project.write("test_k.py", HEAD + test)


@pytest.mark.parametrize(
    ("source", "test"), [WEIGHS, IN_STRUCT, BY_COLUMNS], ids=["constant", "struct", "strides"]
)
def test_a_right_kernel_passes_its_checks_and_is_measured(project, gpu, source, test):
    write(project, source, test)
    result = project.run("--cudaopt-device", "cuda:0")
    result.assert_outcomes(passed=6)
    result.stdout.fnmatch_lines(["*n4096*passed*5.00 us batch*"])


def test_timed_launches_on_other_inputs_have_the_constants_of_the_case(project, gpu):
    write(project, *WEIGHS)
    project.edit("test_k.py", "weight[0] * x", "weight[0] * x + 1")
    result = project.run("--cudaopt-device", "cuda:0", "-k", "latency")
    result.stdout.fnmatch_lines(["*a timed launch, on inputs it had not seen, is wrong:*"])


def test_a_constant_of_another_size_is_refused_with_both(project, gpu):
    write(project, *WEIGHS)
    project.edit("test_k.py", "Constant(f32, 2)", "Constant(f32, 3)")
    result = project.run("--cudaopt-device", "cuda:0", "-k", "n40")
    result.stdout.fnmatch_lines(["*its variable 'weight' has 8 bytes, expected the 12 that are declared*"])


def test_a_write_between_the_elements_is_found_whatever_was_written(project, gpu):
    # What the copy finds between the elements of x is what lies between those of y, at first.
    write(project, *BY_COLUMNS)
    project.edit(
        "test_k.py", 'x=In(f32, 2, "n // 2", strides=(1, 2))', 'x=In(f32, "(n + 1) // 2", strides=(2,))'
    )
    project.edit(
        "test_k.py", 'y=Out(f32, 2, "n // 2", strides=(1, 2))', 'y=Out(f32, "(n + 1) // 2", strides=(2,))'
    )
    project.edit("test_k.py", "n=40)", "n=39)")
    project.edit("test_k.py", ', where=["n % 2 == 0"]', "")
    result = project.run("--cudaopt-device", "cuda:0", "-k", "n39")
    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(["*wrote between the elements of 'y'*"])

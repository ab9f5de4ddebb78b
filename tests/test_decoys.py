"""Answers to other inputs around outputs: who looks there for the answer takes one, and is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_cudaopt import In, InOut, Out, Struct, case, f16, f32, i32, kernel
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.decoys import among_decoys
from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.probed import Probed
from pytest_cudaopt.run import configure

SCALE = """// @launch grid=(1) block=(64)
extern "C" __global__ void scale(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    float found = FOUND;
    // Nothing lies there but NaN where nobody planted anything.
    y[i] = TAKEN ? found : 2.0f * x[i];
}
"""
WRONG = "wrong where answers to other inputs lie around its outputs"
Planted = Callable[..., Probed]


def scaling(folder: Path, found: str, taken: str) -> Kernel:
    (folder / "scale.cu").write_text(SCALE.replace("FOUND", found).replace("TAKEN", taken))

    @kernel(str(folder / "scale.cu"), cases=[case(n=50)])
    def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
        y[...] = 2 * x

    return scale


def planted(made: Kernel, device: Device) -> Probed:
    compiled = compile_candidate(made, made.start(), device, Budget())
    assert isinstance(compiled, Compiled), compiled
    prepared = prepare(made, made.cases[0], device)
    launch = configure(made.start(), prepared, compiled, device)
    assert isinstance(launch, LaunchConfiguration), launch
    return among_decoys(prepared, compiled, launch, device, Budget())


def test_a_kernel_that_looks_nowhere_is_right_among_both_answers(tmp_path: Path, sim: Device) -> None:
    assert planted(scaling(tmp_path, "0.0f", "false"), sim) == Probed(launches=2)


@pytest.mark.parametrize(
    ("found", "taken"),
    [
        ("y[n + i]", "isfinite(found)"),
        ("y[i - n]", "isfinite(found)"),
        ("y[5 * n + i]", "isfinite(found)"),
        ("y[i - 3 * n]", "isfinite(found)"),
        # Answers to wholly other inputs it tells from those it looks for.
        ("y[n + i]", "y[n] == 2.0f * x[0] && y[n + 1] == 2.0f * x[1]"),
    ],
    ids=["behind", "before", "further behind", "further before", "only if some of it is right"],
)
def test_who_takes_what_lies_there_is_wrong(tmp_path: Path, sim: Device, found: str, taken: str) -> None:
    probed = planted(scaling(tmp_path, found, taken), sim)

    assert (probed.note, probed.holds) == (WRONG, False)
    assert probed.comparisons[0].mismatched > 0


IN_PLACE = """// @launch grid=(1) block=(64)
extern "C" __global__ void twice(float* y, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = 2.0f * y[i PLACE];
}
"""


@pytest.mark.parametrize(("place", "note"), [("", ""), ("+ n", WRONG)])
def test_what_an_output_holds_lies_between_the_answers(
    tmp_path: Path, sim: Device, place: str, note: str
) -> None:
    (tmp_path / "twice.cu").write_text(IN_PLACE.replace("PLACE", place))

    @kernel(str(tmp_path / "twice.cu"), cases=[case(n=50)])
    def twice(y=InOut(f32, "n"), n=i32):
        y *= 2

    assert planted(twice, sim).note == note


ROWS = """// @launch grid=(rows) block=(64)
#include <cuda_fp16.h>
extern "C" __global__ void rows_of(const float* x, __half* y, int rows, int cols, int ld) {
    int row = blockIdx.x, i = threadIdx.x;
    if (i >= cols) return;
    float found = __half2float(y[(row + rows * TIMES) * ld + i]);
    y[row * ld + i] = __float2half(TIMES && isfinite(found) ? found : 2.0f * x[row * cols + i]);
}
"""


@pytest.mark.parametrize(("times", "note"), [("0", ""), ("1", WRONG)])
def test_answers_lie_with_the_strides_and_in_the_type_of_the_output(
    tmp_path: Path, sim: Device, times: str, note: str
) -> None:
    (tmp_path / "rows.cu").write_text(ROWS.replace("TIMES", times))

    @kernel(str(tmp_path / "rows.cu"), entry="rows_of", cases=[case(rows=3, cols=20, ld=24)])
    def rows_of(
        x=In(f32, "rows", "cols"),
        y=Out(f16, "rows", "cols", strides=("ld", 1)),
        rows=i32,
        cols=i32,
        ld=i32,
    ):
        y[...] = 2 * x

    assert planted(rows_of, sim).note == note


IN_STRUCT = """// @launch grid=(1) block=(64)
struct Params { const float* x; float* y; int n; };
extern "C" __global__ void scale(Params p) {
    int i = threadIdx.x;
    if (i < p.n) p.y[i] = isfinite(p.y[p.n + i]) ? p.y[p.n + i] : 2.0f * p.x[i];
}
"""


def test_an_output_in_a_struct_lies_between_answers(tmp_path: Path, sim: Device) -> None:
    (tmp_path / "scale.cu").write_text(IN_STRUCT)

    @kernel(str(tmp_path / "scale.cu"), cases=[case(n=50)])
    def scale(p=Struct("Params", x=In(f32, "n"), y=Out(f32, "n"), n=i32), *, x, y, n):
        y[...] = 2 * x

    assert planted(scale, sim).note == WRONG


def test_a_fault_among_answers_is_found(tmp_path: Path, sim: Device) -> None:
    found = planted(scaling(tmp_path, "isfinite(y[n]) ? x[1 << 20] : 0.0f", "found > 1e30f"), sim)

    assert found.note == "a launch among answers to other inputs ended"
    assert found.fault is not None


def test_without_other_inputs_there_is_no_other_answer(tmp_path: Path, sim: Device) -> None:
    (tmp_path / "fill.cu").write_text(
        '// @launch grid=(1) block=(64)\nextern "C" __global__ void fill(float* y, int n) {\n'
        "    if (threadIdx.x < n) y[threadIdx.x] = 3.0f;\n}\n"
    )

    @kernel(str(tmp_path / "fill.cu"), cases=[case(n=50)])
    def fill(y=Out(f32, "n"), n=i32):
        y[...] = 3

    assert planted(fill, sim) == Probed(untried="no other inputs have another answer")


def test_nothing_of_it_is_left_behind(tmp_path: Path, sim: Device) -> None:
    made = scaling(tmp_path, "y[n + i]", "isfinite(found)")
    prepared = prepare(made, made.cases[0], sim)
    _ = prepared.contents
    before = set(sim.scratch.iterdir())

    planted(made, sim)

    assert set(sim.scratch.iterdir()) == before

"""Small kernels for tests that judge on the simulator: a right one, and ways to break it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from pytest_cudaopt import In, Out, Scalar, case, f32, i32, kernel
from pytest_cudaopt.cases import Case
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import Plan, Stage

AXPY = """// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)
// @tune BLOCK = 64, 128, 2048
extern "C" __global__ void axpy(const float* x, float* y, int n, float a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + 1.0f;
    }
}
"""
CASES = (case(n=100), case(n=1), case(n=1000, measure=True))
ALL_STAGES = (Stage.COMPILE, Stage.CHECK, Stage.MEASURE)


def axpy(
    folder: Path,
    *edits: tuple[str, str],
    cases: Iterable[Case] = CASES,
    reference: Callable[..., Any] | None = None,
    **declared: Any,
) -> Kernel:
    """Declare `y = a x + 1` with `edits` (old text, new text) made to its source."""
    source = AXPY
    for old, new in edits:
        assert old in source
        source = source.replace(old, new)
    file = folder / "axpy.cu"
    file.write_text(source)

    @kernel(str(file), cases=cases, reference=reference, **declared)
    def axpy(x=In(f32, "n"), y=Out(f32, "n"), n=i32, a=Scalar(f32, 0.5)):
        """Scale and shift."""
        y[...] = a * x + 1

    return axpy


def full_plan(kernel: Kernel, **changes: Any) -> Plan:
    """Return a plan of all stages on all cases."""
    return Plan(ALL_STAGES, kernel.cases, **changes)

"""What a kernel's text hints at, and what it does not."""

from __future__ import annotations

import pytest
from bottleneck_questions import BOTTLENECKS

from pytest_cudaopt.optimize.code_clues import clues
from pytest_cudaopt.optimize.code_reading import KernelText


def strong(source: str) -> set[str]:
    return {clue.phrase for clue in clues(source) if clue.strength == 3}


def body(statements: str, rule: str = "grid=(cdiv(n, 256)) block=(256)") -> str:
    return (
        f'// @launch {rule}\nextern "C" __global__ void k(const float* x, float* y, int n, int m) {{\n'
        f"int i = blockIdx.x * blockDim.x + threadIdx.x;\n{statements}\n}}\n"
    )


@pytest.mark.parametrize(
    ("statements", "phrase"),
    [
        ("y[i] = x[i * m];", "strided access"),
        ("const float* r = x + (size_t)i * m;\nfor (int j = 0; j < m; ++j) s += r[j];", "strided access"),
        ("int b = 4 * i; y[b] = 0;", "strided access"),
        ("__shared__ float t[64][64];\ny[i] = t[threadIdx.x][3];", "column of a shared tile"),
        ("__shared__ float t[8192];\ny[i] = x[i];", "shared memory per block too large"),
        ("if (i % 2) y[i] = 1; else y[i] = 2;", "warp divergence"),
        ("switch (x[i] > 0) { case 1: y[i] = 2; }", "warp divergence"),
        ("for (int j = 0; j < m; ++j) y[i] += x[j];", "repeated reads"),
        ("float v = 0;\nfor (int j = 0; j < m; ++j) v = fmaf(v, v, 1.0f);\ny[i] = v;", "FMA pipe"),
        ("float a[8];\nint h = (int)x[i];\ny[i] = a[h];", "dynamically indexed array"),
        ("for (int j = 0; j <= blockIdx.x; ++j) y[i] += x[i + j];", "load imbalance"),
        ("y[i] = 0.5 * x[i];", "double literals"),
    ],
)
def test_a_pattern_of_trouble_is_seen(statements: str, phrase: str) -> None:
    assert phrase in strong(body(statements))


@pytest.mark.parametrize(
    "statements",
    [
        "if (i < n) y[i] = 2.0f * x[i];",
        "for (; i < n; i += gridDim.x * blockDim.x) y[i] = x[i];",
        "__shared__ float t[32][33];\nt[threadIdx.y][threadIdx.x] = 1;\ny[i] = t[threadIdx.x][threadIdx.y];",
        "if (threadIdx.x % 32 == 0) y[threadIdx.x / 32] = x[i];",
        "int row = blockIdx.y * m; y[row + i] = x[row + i];",
        "// if (i % 2) y[i * m] = 0.5;\ny[i] = x[i];",
        "/* double */ y[i] = x[i];",
        "float v[4];\nfor (int j = 0; j < 4; ++j) v[j] = x[i + j * 1024];\ny[i] = v[0] + v[3];",
    ],
)
def test_code_without_trouble_hints_at_none(statements: str) -> None:
    assert strong(body(statements)) == set()


@pytest.mark.parametrize(
    ("rule", "phrase"),
    [("grid=(8) block=(256)", "too few blocks"), ("grid=(140) block=(256)", "partial wave")],
)
def test_a_fixed_grid_is_judged_by_its_blocks(rule: str, phrase: str) -> None:
    assert phrase in strong(body("y[i] = x[i];", rule))
    assert phrase not in strong(body("y[i] = x[i];", "grid=(1056) block=(256)"))


def test_names_mean_nothing() -> None:
    kernel = BOTTLENECKS["uncoalesced"].kernel
    assert clues(kernel) == clues(
        kernel.replace(" u ", " stride ").replace("[u ", "[stride ").replace("(u ", "(stride ")
    )


def test_values_of_macros_and_tunables_count() -> None:
    text = KernelText("#define T 64\n// @tune K = 32, 16\n__shared__ float a[T][K + 1];")
    assert text.shared_bytes == 4 * 64 * 33


@pytest.mark.parametrize(
    "source", ["", "{", "((((", "[" * 1000, "for (;;", "\0", "a = b, " * 3000, "//" * 50_000]
)
def test_any_text_is_read(source: str) -> None:
    clues(source)

"""Mutants: which mistakes are made in a source, and where none are."""

from __future__ import annotations

import textwrap
from collections import Counter
from pathlib import Path

import pytest

from pytest_cudaopt import In, Out, Scalar, case, f32, i32, kernel
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.mutate.edits import MutantKind
from pytest_cudaopt.mutate.mutants import Mutant, by_turns, mutants

EXAMPLES = Path(__file__).parent.parent / "example_kernels"
LAUNCH = "// @launch grid=(cdiv(cols, 64), rows) block=(64)"
HEAD = 'extern "C" __global__ void f(const float* x, float* y, int rows, int cols, float scale) {'


def declared(folder: Path, source: str, **more: object) -> Kernel:
    file = folder / "f.cu"
    file.write_text(source)

    @kernel(str(file), cases=[case(rows=3, cols=100), case(rows=8, cols=640)], **more)
    def f(
        x=In(f32, "rows", "cols"),
        y=Out(f32, "rows", "cols"),
        rows=i32,
        cols=i32,
        scale=Scalar(f32, 0.5),
    ):
        y[...] = scale * x

    return f


def made(folder: Path, source: str, most: int = 1000) -> tuple[Mutant, ...]:
    one = declared(folder, source)
    return mutants(one.start(), one, most)


def of_body(folder: Path, body: str) -> set[tuple[MutantKind, str, str]]:
    found = made(folder, f"{LAUNCH}\n{HEAD}\n{textwrap.indent(body, '    ')}\n}}\n")
    return {(one.kind, one.before, one.after) for one in found if one.kind is not MutantKind.CHANGED_LAUNCH}


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("dropped guard", "if (i < cols) y[i] = 0;", "if (true) y[i] = 0;"),
        ("dropped guard", "if (i < cols) { y[i] = 0; }", "if (true) { y[i] = 0; }"),
        ("dropped guard", "if (i >= cols) return;", "if (false) return;"),
        ("dropped guard", "if (i >= cols) { return; }", "if (false) { return; }"),
        ("dropped guard", "if (i >= cols || r >= rows) continue;", "if (false || r >= rows) continue;"),
        ("dropped guard", "if (i < cols && r < rows) y[i] = 0;", "if (i < cols && true) y[i] = 0;"),
        ("dropped guard", "if (cols % 4 == 0) { g(); return; }", "if (true) { g(); return; }"),
        ("dropped guard", "float v = i < cols ? x[i] : 0;", "float v = true ? x[i] : 0;"),
        ("dropped guard", "g((i < cols) ? x[i] : 0);", "g((true) ? x[i] : 0);"),
        ("dropped guard", "const bool in = i < n && r < m;", "const bool in = true && r < m;"),
        ("dropped guard", "v = in ? x[i] : 0;", "v = true ? x[i] : 0;"),
        ("dropped guard", "for (; i < n && k < 8; ++i) g();", "for (; i < n && true; ++i) g();"),
        ("off by one", "if (i < cols) g();", "if (i <= cols) g();"),
        ("off by one", "if (i >= cols) return;", "if (i > cols) return;"),
        ("off by one", "for (int i = 0; i < n; ++i) g();", "for (int i = 1; i < n; ++i) g();"),
        ("off by one", "for (int i = t; i < n; ++i) g();", "for (int i = t + 1; i < n; ++i) g();"),
        ("off by one", "while (i < n) ++i;", "while (i <= n) ++i;"),
        ("off by one", "int last = n - 1;", "int last = n;"),
        ("off by one", "y[i] = x[i + 1];", "y[i] = x[i];"),
        ("off by one", "y[i] = x[i * 2];", "y[i] = x[i * 2 + 1];"),
        ("missing barrier", "__syncthreads();", ";"),
        ("missing barrier", "__syncwarp(mask);", ";"),
        ("missing barrier", "block.sync();", ";"),
        ("missing barrier", "atomicAdd(&y[0], v);", "*(&y[0]) += (v);"),
        ("narrower type", "double sum = 0;", "float sum = 0;"),
        ("narrower type", "const long long at = i * n;", "const int at = i * n;"),
        ("narrower type", "unsigned long long at = i;", "unsigned int at = i;"),
        ("narrower type", "std::size_t at = i;", "int at = i;"),
        ("narrower type", "at = static_cast<size_t>(r) * n;", "at = static_cast<int>(r) * n;"),
        ("narrower type", "int i = threadIdx.x; y[i] = 0;", "short i = threadIdx.x; y[i] = 0;"),
        (
            "narrower type",
            "float s; s += x[i];",
            "float s; s = __int_as_float(__float_as_int(s + (x[i])) & 0xffffe000);",
        ),
        (
            "narrower type",
            "float s; s = fmaf(x[i], 2, s);",
            "float s; s = __int_as_float(__float_as_int(fmaf(x[i], 2, s)) & 0xffffe000);",
        ),
        (
            "narrower type",
            "y[i] = scale * x[i];",
            "y[i] = __int_as_float(__float_as_int(scale * x[i]) & 0xffffe000);",
        ),
        (
            "skipped tail",
            "for (int i = t; i < n; i += BLOCK) g();",
            "for (int i = t; i < n / BLOCK * BLOCK; i += BLOCK) g();",
        ),
        (
            "skipped tail",
            "for (int i = t; i < r * n; i += 2 * B) g();",
            "for (int i = t; i < (r * n) / (2 * B) * (2 * B); i += 2 * B) g();",
        ),
        (
            "skipped tail",
            "for (int i = 0; i < n && in; i++) g();",
            "for (int i = 0; i < n / 4 * 4 && in; i++) g();",
        ),
        ("skipped tail", "for (int h = 32; h > 0; h /= 2) g();", "for (int h = 32; h > 1; h /= 2) g();"),
        ("skipped tail", "if (i < cols) g();", "if (i < cols / 4 * 4) g();"),
        ("skipped tail", "if (i >= cols) return;", "if (i >= cols / 4 * 4) return;"),
        ("swapped index", "int i = blockIdx.x + blockIdx.y;", "int i = blockIdx.y + blockIdx.y;"),
        ("swapped index", "y[r * cols + c] = 0;", "y[c * cols + r] = 0;"),
        ("swapped index", "y[r * cols + c] = 0;", "y[r * rows + c] = 0;"),
        ("wrong initial value", "float most = -INFINITY;", "float most = 0.0f;"),
        ("wrong initial value", "float most = -1e30f;", "float most = 0.0f;"),
        ("wrong initial value", "float most = -__int_as_float(0x7f800000);", "float most = 0.0f;"),
        ("wrong initial value", "int least = INT_MAX;", "int least = 0;"),
        ("wrong initial value", "float sum = 0.0f;", "float sum = 1.0f;"),
        ("wrong initial value", "float v = in ? x[i] : 0.0f;", "float v = in ? x[i] : 1.0f;"),
        ("wrong initial value", "float sums[4] = {};", "float sums[4] = {1};"),
        ("wrong operator", "y[0] = a + b;", "y[0] = a - b;"),
        ("wrong operator", "v += x[i];", "v -= x[i];"),
        ("wrong operator", "v = a / b;", "v = a * b;"),
        ("wrong operator", "v = fmaxf(v, x[i]);", "v = fminf(v, x[i]);"),
        ("wrong operator", "v = max(v, x[i]);", "v = min(v, x[i]);"),
        ("dropped factor", "v = 0.5f * x[i];", "v = x[i];"),
        ("dropped factor", "v = x[i] * 0.5f;", "v = x[i];"),
        ("dropped factor", "return 2.0f*v;", "return v;"),
        ("dropped factor", "y[i] = scale * x[i];", "y[i] = x[i];"),
        ("dropped factor", "v = sum / cols;", "v = sum;"),
        ("dropped factor", "v = rsqrtf(sum + 1e-5f);", "v = rsqrtf(sum);"),
        ("dropped factor", "v = 1.0f / (1.0f + e);", "v = 1.0f / (e);"),
    ],
)
def test_a_mistake_is_made(tmp_path: Path, kind: str, before: str, after: str) -> None:
    found = of_body(tmp_path, before)
    assert (MutantKind(kind), before, after) in found, sorted(found)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("off by one", "// if (i < n) y[i] = 0;"),
        ("off by one", "/* if (i < n) y[i] = 0; */"),
        ("off by one", 'printf("if (i < n) y[i] = x[i + 1]");'),
        ("off by one", 'g(R"(if (i < n) y[i] = x[i])");'),
        ("off by one", "#define LAST(i, n) if ((i) < (n) - 1) y[i] = 0"),
        ("off by one", "v = static_cast<float>(i);"),
        ("off by one", "if (std::is_same<float, T>::value) g();"),
        # One element more only moves banks.
        ("off by one", "__shared__ float tile[16][16 + 1];"),
        # Equals make no difference.
        ("off by one", "v = a > b ? a : b;"),
        # It would never end.
        ("off by one", "for (int h = 32; h > 0; h /= 2) g();"),
        ("skipped tail", "for (int k = 0; k < DEPTH; ++k) g();"),
        ("skipped tail", "for (int k = 0; k < 4; ++k) g();"),
        ("dropped guard", "while (i < n) ++i;"),
        ("dropped guard", "if (flag) g();"),
        # Compiled code does not tell pointers to narrower elements apart, memory does.
        ("narrower type", "const int64_t* ids = p;"),
        ("narrower type", "for (int k = 0; k < DEPTH; ++k) y[k] = 0;"),
        # What is picked is not rounded.
        ("narrower type", "float v; v = fmaxf(v, x[i]);"),
        ("wrong operator", "int i = a + b;"),
        ("wrong operator", "v = x[a + b];"),
        ("wrong operator", "v = -a;"),
        ("dropped factor", "int i = r * cols;"),
        ("swapped index", "int i = blockIdx.x + threadIdx.y;"),
        ("wrong initial value", "for (float v = 0.0f; v < w; v += 2) g();"),
    ],
)
def test_no_such_mistake_is_made_there(tmp_path: Path, kind: str, body: str) -> None:
    assert [one for one in of_body(tmp_path, body) if one[0] == kind] == []


@pytest.mark.parametrize(
    ("rule", "changed"),
    [
        (
            "grid=(cdiv(cols, 64), rows) block=(64)",
            {
                "grid=(max(0, cdiv(cols, 64) - 1), rows) block=(64)",
                "grid=(cols / 64, rows) block=(64)",
                "grid=(2, rows) block=(64)",
                "grid=(cdiv(cols, 64), max(0, rows - 1)) block=(64)",
                "grid=(cdiv(cols, 64), 3) block=(64)",
                "grid=(cdiv(cols, 64), rows) block=(max(1, 64 / 2))",
            },
        ),
        ("grid=(7) block=(1)", set()),
        (
            "grid=(7) block=(1) shared=4 * cols",
            {"grid=(7) block=(1) shared=(4 * cols) / 2"},
        ),
    ],
)
def test_a_launch_rule_is_changed(tmp_path: Path, rule: str, changed: set[str]) -> None:
    found = made(tmp_path, f"// Two lines.\n// @launch {rule}\n{HEAD} }}\n")
    assert {one.after for one in found} == {f"@launch {text}" for text in changed}
    assert {(one.line, one.before) for one in found} <= {(2, f"@launch {rule}")}


def test_an_override_is_changed_and_widened(tmp_path: Path) -> None:
    source = f"// @launch grid=(1) block=(1)\n// @launch[cols % 4 == 0] block=(32)\n{HEAD} }}\n"
    assert {(one.line, one.after) for one in made(tmp_path, source)} == {
        (2, "@launch[cols % 4 == 0] block=(max(1, 32 / 2))"),
        (2, "@launch[1] block=(32)"),
    }


def test_threads_that_stride_over_the_grid_take_any_grid(tmp_path: Path) -> None:
    source = f"// @launch grid=(cdiv(cols, 64)) block=(1)\n{HEAD} int step = gridDim.x; }}\n"
    assert [one for one in made(tmp_path, source) if one.kind is MutantKind.CHANGED_LAUNCH] == []


def test_a_rule_of_the_declaration_has_no_line(tmp_path: Path) -> None:
    one = declared(tmp_path, f"{HEAD} }}\n", launch="grid=(rows) block=(64)")
    assert {found.line for found in mutants(one.start(), one)} == {0}


def test_only_what_the_kernel_executes_is_changed(tmp_path: Path) -> None:
    source = f"""{LAUNCH}
#define TWICE(v) from_macro(v)
namespace own {{ __device__ float called(float v) {{ return v + 2.0f; }} }}
__device__ float from_macro(float v) {{ return v + 3.0f; }}
__device__ float unused(float v) {{ return v + 4.0f; }}
__global__ void other(float* y, int n) {{ if (threadIdx.x < n) y[0] = 5.0f; }}
template <class T> struct Add {{
    __device__ T operator()(T a, T b) const {{ return a + b; }}
}};
void host(int n) {{ if (n < 6) g(); }}
{HEAD} y[0] = own::called(x[0]) + TWICE(x[0]); }}
"""
    lines = {one.line for one in made(tmp_path, source) if one.kind is not MutantKind.CHANGED_LAUNCH}
    assert lines == {3, 4, 8, 11}


def test_only_the_kernels_own_region_is_changed(tmp_path: Path) -> None:
    body = "if (threadIdx.x < cols) y[0] = x[0]; }"
    source = f"""__device__ float far(float v) {{ return v + 1.0f; }}
// @cudaopt begin f
{LAUNCH}
{HEAD} {body}
// @cudaopt end
// @cudaopt begin g
{LAUNCH}
{HEAD.replace("f(", "g(")} {body}
// @cudaopt end
"""
    assert {one.line for one in made(tmp_path, source)} == {3, 4}


def test_a_mutant_is_its_line_and_nothing_else(tmp_path: Path) -> None:
    source = f"{LAUNCH}\n{HEAD}\n    if (threadIdx.x < cols)  // in range\n        y[0] = x[0];\n}}\n"
    one = declared(tmp_path, source)
    (guard,) = [m for m in mutants(one.start(), one) if m.kind is MutantKind.DROPPED_GUARD]

    assert (guard.line, guard.before, guard.after) == (3, "if (threadIdx.x < cols)", "if (true)")
    assert guard.candidate.source == source.replace("threadIdx.x < cols", "true")
    assert guard.candidate.launch == one.start().launch


def test_a_source_that_is_cut_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    source = f"{LAUNCH}\n{HEAD}\n    if (threadIdx.x < cols) {{ y[0] = x[0"
    for end in range(len(LAUNCH) + 1, len(source)):
        made(tmp_path, source[:end])
    made(tmp_path, source + "]; } } ) ] } if (")


def test_the_same_mutants_come_each_time_bounded_and_of_every_kind(tmp_path: Path) -> None:
    one = declared(tmp_path, (EXAMPLES / "softmax.cu").read_text(), entry="softmax")
    every = mutants(one.start(), one, 1000)
    few = mutants(one.start(), one, 20)

    assert few == mutants(one.start(), one, 20)
    assert (len(every) > 50, len(few)) == (True, 20)
    assert {found.kind for found in few} == {found.kind for found in every}
    assert [found.line for found in few] == sorted(found.line for found in few)
    texts = [(found.candidate.source, str(found.candidate.launch)) for found in every]
    assert len(set(texts)) == len(texts)
    shares = Counter(found.kind for found in few)
    have = Counter(found.kind for found in every)
    assert all(shares[kind] >= min(have[kind], 2) for kind in have)


def test_kinds_take_turns(tmp_path: Path) -> None:
    one = declared(tmp_path, (EXAMPLES / "softmax.cu").read_text(), entry="softmax")
    every = mutants(one.start(), one)
    kinds = {found.kind for found in every}
    first = by_turns(every)[: len(kinds)]

    assert {found.kind for found in first} == kinds
    assert sorted(by_turns(every), key=id) == sorted(every, key=id)

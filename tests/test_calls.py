"""Functions the compiler does not inline: arguments and results, recursion, pointers, frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cuda_runner import FRONT_ENDS, Array, Launched, ptx_of, run
from harness_client import Served

EXECUTES = ("call", "call.uni", "st.param.b32", "st.param.b64", "st.param.f32")
I32 = np.arange(64, dtype=np.int32)


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


@pytest.fixture(params=FRONT_ENDS)
def front_end(request: pytest.FixtureRequest) -> str:
    architecture: str = request.param
    return architecture


def called(
    harness: Served, folder: Path, source: str, front_end: str, x: Array, isa: str = "auto", grid: int = 1
) -> Launched:
    """Run `k(int* x, int* y)` with one thread per element of a block."""
    arguments = {"x": x, "y": np.zeros(len(x), np.int32)}
    block = len(x) // grid
    return run(harness, folder, ptx_of(source, front_end), "k", arguments, block=block, grid=grid, isa=isa)


def result(harness: Served, folder: Path, source: str, front_end: str, x: Array = I32) -> Array:
    launched = called(harness, folder, source, front_end, x)
    assert launched.fault is None, launched.fault
    return launched.arrays["y"]


KERNEL = """
extern "C" __global__ void k(const int* x, int* y) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {body}
}}
"""
FIBONACCI = """
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
""" + KERNEL.format(body="y[i] = fib(x[i] % 16);")


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@pytest.mark.parametrize("isa", ["x86-64", "x86-64-v3"])
def test_lanes_recurse_to_depths_of_their_own(
    harness: Served, tmp_path: Path, front_end: str, isa: str
) -> None:
    launched = called(harness, tmp_path, FIBONACCI, front_end, I32, isa)
    assert launched.arrays["y"].tolist() == [fib(n % 16) for n in I32]


def test_functions_may_call_each_other(harness: Served, tmp_path: Path, front_end: str) -> None:
    source = """
__device__ __noinline__ int odd(int n);
__device__ __noinline__ int even(int n, int steps) { return n == 0 ? steps : odd(n - 1) + 1; }
__device__ __noinline__ int odd(int n) { return n == 0 ? -100 : even(n - 1, 7) + 10; }
""" + KERNEL.format(body="y[i] = even(x[i], 3);")

    def even(n: int, steps: int) -> int:
        return steps if n == 0 else odd(n - 1) + 1

    def odd(n: int) -> int:
        return -100 if n == 0 else even(n - 1, 7) + 10

    assert result(harness, tmp_path, source, front_end).tolist() == [even(int(n), 3) for n in I32]


def test_recursion_may_be_hundreds_of_calls_deep(harness: Served, tmp_path: Path, front_end: str) -> None:
    source = """
__device__ __noinline__ int ackermann(int m, int n) {
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
""" + KERNEL.format(body="y[i] = ackermann(2, x[i]);")
    assert result(harness, tmp_path, source, front_end).tolist() == [2 * n + 3 for n in range(64)]


def test_recursion_without_an_end_overflows_the_stack_at_the_call(
    harness: Served, tmp_path: Path, front_end: str
) -> None:
    source = """
__device__ __noinline__ int down(int n, int* y) {
    if (n == 7) return 1;
    y[0] = n;
    return down(n + 2, y) * 3 + n;
}
""" + KERNEL.format(body="y[i] = down(x[i], y);")
    fault = called(harness, tmp_path, source, front_end, I32 * 2).fault
    assert fault is not None
    assert fault["kind"] == "illegal_address"
    assert "overflows its stack: '_Z4downiPi' is called" in fault["message"]
    assert "called from k.cu:5" in fault["message"]
    assert (fault["file"], fault["line"], fault["thread"]) == ("k.cu", 5, [0, 0, 0])


POINTERS = """
typedef int (*Step)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ __noinline__ int shift(int a, int b) { return a << (b & 7); }
__device__ Step steps[3] = {add, subtract, shift};
"""


def test_lanes_call_different_functions_through_a_table(
    harness: Served, tmp_path: Path, front_end: str
) -> None:
    source = POINTERS + KERNEL.format(body="y[i] = steps[x[i] % 3](x[i], i) + (i & 1 ? steps[0](i, 1) : 0);")
    expected = []
    for n in range(64):
        value = [n + n, 0, n << (n & 7)][n % 3]
        expected.append(value + (n + 1 if n & 1 else 0))
    assert result(harness, tmp_path, source, front_end).tolist() == expected


def test_a_corrupted_pointer_to_a_function_is_a_fault(
    harness: Served, tmp_path: Path, front_end: str
) -> None:
    source = POINTERS + KERNEL.format(
        body="Step f = steps[i % 3]; if (x[i] == 40) f = (Step)8; y[i] = f(i, 1);"
    )
    fault = called(harness, tmp_path, source, front_end, I32).fault
    assert fault is not None
    assert fault["kind"] == "illegal_address"
    assert "calls a function at address 8, where none is" in fault["message"]
    assert fault["thread"] == [40, 0, 0]


def test_virtual_functions_are_found_through_their_objects(
    harness: Served, tmp_path: Path, front_end: str
) -> None:
    source = """
struct Shape { int a; __device__ Shape(int a) : a(a) {} virtual __device__ int area(int s) { return s; } };
struct Square : Shape { using Shape::Shape; __device__ int area(int s) override { return a * a + s; } };
struct Strip : Shape { using Shape::Shape; __device__ int area(int s) override { return a * 3 - s; } };
__device__ __noinline__ int measure(Shape* shape, int s) { return shape->area(s); }
""" + KERNEL.format(
        body="Shape none(1); Square square(x[i]); Strip strip(i);"
        "Shape* shapes[3] = {&none, &square, &strip}; y[i] = measure(shapes[x[i] % 3], 5);"
    )
    expected = [[5, n * n + 5, 3 * n - 5][n % 3] for n in range(64)]
    assert result(harness, tmp_path, source, front_end).tolist() == expected


def test_structs_travel_by_value_in_both_directions(harness: Served, tmp_path: Path, front_end: str) -> None:
    source = """
struct Big { short tag; double weight; float v[5]; char flag; };
__device__ __noinline__ Big change(Big b, char c, unsigned char u, long long n, int index) {
    b.v[index] += 100;
    b.tag -= c;
    b.weight += n;
    b.flag = u + 1;
    return b;
}
""" + KERNEL.format(
        body="Big b{(short)(-i), 0.5 * i, {1, 2, 3, 4, 5}, 0};"
        "Big c = change(b, (char)-x[i], (unsigned char)(250 + x[i]), (1ll << 40) + i, i % 5);"
        "y[i] = c.tag + (int)(c.weight - (1ll << 40)) * 1000 + (int)(c.v[0] + 2 * c.v[i % 5]) + c.flag * 7"
        "     + b.tag;"
    )
    n = np.arange(64)
    tag, flag = -n + n, (250 + n + 1).astype(np.int8).astype(int)
    v0 = 1 + 100 * (n % 5 == 0)
    own = n % 5 + 1 + 100
    expected = tag + (1.5 * n).astype(int) * 1000 + v0 + 2 * own + flag * 7 - n
    assert result(harness, tmp_path, source, front_end).tolist() == expected.tolist()


def test_a_callee_writes_to_its_callers_array(harness: Served, tmp_path: Path, front_end: str) -> None:
    source = """
__device__ __noinline__ void reverse(int* p, int n) {
    int copy[8];
    for (int k = 0; k < 8; ++k) copy[k] = p[k];
    for (int k = 0; k < n; ++k) p[k] = copy[n - 1 - k];
}
__device__ __noinline__ int outer(int i, int n) {
    int own[8];
    for (int k = 0; k < 8; ++k) own[k] = 10 * i + k;
    reverse(own, n);
    int before = own[n % 3];
    if (i & 1) reverse(own, 8);
    return before * 1000 + own[n & 7];
}
""" + KERNEL.format(body="y[i] = outer(i, x[i] % 8 + 1);")
    expected = []
    for i in range(64):
        n = i % 8 + 1
        own = [10 * i + k for k in range(8)]
        own[:n] = own[:n][::-1]
        before = own[n % 3]
        own = own[::-1] if i & 1 else own
        expected.append(before * 1000 + own[n & 7])
    assert result(harness, tmp_path, source, front_end).tolist() == expected


def test_a_callees_overrun_is_a_fault_at_its_line_and_says_who_called(
    harness: Served, tmp_path: Path, front_end: str
) -> None:
    source = """
__device__ __noinline__ void put(int* p, int at) {
    p[at] = 1;
}
""" + KERNEL.format(body="int own[4] = {x[i]};\n put(own, x[i] == 33 ? 1000 : i & 3);\n y[i] = own[i & 3];")
    fault = called(harness, tmp_path, source, front_end, I32).fault
    assert fault is not None
    assert (fault["kind"], fault["space"], fault["thread"]) == ("illegal_address", "local", [33, 0, 0])
    assert (fault["file"], fault["line"]) == ("k.cu", 3)
    assert fault["inlined_from"] == [{"file": "k.cu", "line": 9}]
    assert "at k.cu:3, called from k.cu:9" in fault["message"]


def test_a_barrier_may_stand_in_a_function(harness: Served, tmp_path: Path, front_end: str) -> None:
    source = """
__shared__ int tile[64];
__device__ __noinline__ int other(int value, int at) {
    tile[threadIdx.x] = value;
    __syncthreads();
    return tile[at];
}
""" + KERNEL.format(body="y[i] = other(x[i], 63 - i); if (i < 40) y[i] += 1000;")
    expected = [63 - i + (1000 if i < 40 else 0) for i in range(64)]
    assert result(harness, tmp_path, source, front_end).tolist() == expected


def test_threads_may_exit_in_a_function(harness: Served, tmp_path: Path, front_end: str) -> None:
    source = """
__device__ __noinline__ int keep(int n) {
    if (n % 5 == 0) asm volatile("exit;");
    return n * 2;
}
""" + KERNEL.format(body="y[i] = -1; y[i] = keep(x[i]) + 1;")
    expected = [-1 if n % 5 == 0 else 2 * n + 1 for n in range(64)]
    assert result(harness, tmp_path, source, front_end).tolist() == expected


def test_every_block_starts_with_frames_of_its_own(harness: Served, tmp_path: Path, front_end: str) -> None:
    source = """
__device__ __noinline__ int where(int n) {
    if (n > 0) return where(n - 1);
    return blockIdx.x * 1000 + threadIdx.x;
}
""" + KERNEL.format(body="y[i] = where(x[i] & 3);")
    launched = called(harness, tmp_path, source, front_end, np.arange(256, dtype=np.int32), grid=4)
    assert launched.arrays["y"].tolist() == [i // 64 * 1000 + i % 64 for i in range(256)]


def test_what_a_recursive_call_leaves_in_registers_is_not_seen_by_its_caller(
    harness: Served, tmp_path: Path, front_end: str
) -> None:
    source = """
__device__ __noinline__ int walk(const int* x, int n, int depth) {
    int before = x[n & 63];
    if (depth == 0) return before;
    int deeper = walk(x, n * 5 + 3, depth - 1 - (n & 1) * (depth > 1));
    return before * 3 + deeper + x[n & 63];
}
""" + KERNEL.format(body="y[i] = walk(x, i, 6);")

    def walk(n: int, depth: int) -> int:
        if depth == 0:
            return n & 63
        deeper = walk(n * 5 + 3, depth - 1 - (n & 1) * (depth > 1))
        return (n & 63) * 3 + deeper + (n & 63)

    assert result(harness, tmp_path, source, front_end).tolist() == [walk(i, 6) for i in range(64)]

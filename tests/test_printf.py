"""printf of kernels: C's formats, in the order of blocks and threads, with a bound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cuda_runner import FRONT_ENDS, Array, Launched, ptx_of, run
from harness_client import Served


@pytest.fixture(scope="module")
def harness() -> Iterator[Served]:
    with Served("--nvrtc", "none") as served:
        yield served


def prints(
    harness: Served,
    folder: Path,
    body: str,
    front_end: str = FRONT_ENDS[0],
    *,
    block: int = 1,
    grid: int = 1,
    threads: int = 1,
    before: str = "",
) -> Launched:
    index = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
    source = f'{before}extern "C" __global__ void k(int* y) {{\n {index}\n{body}\n}}\n'
    arguments: dict[str, Array] = {"y": np.zeros(block * grid, np.int32)}
    ptx = ptx_of(source, front_end)
    return run(harness, folder, ptx, "k", arguments, block=block, grid=grid, threads=threads)


# What Python's % and C's printf write alike, and what only C has.
SAME = [
    ("%d|%i|%5d|%-5d|%05d|%+d|% d", (42, -7, 42, 42, 42, 42, 42)),
    ("%x|%X|%#x|%o", (48879, 48879, 255, 8)),
    ("%.3d|%8.5d", (7, -42)),
    ("%f|%F|%.2f|%10.3f|%-10.1f|", (1.5, 2.5, 3.14159, 2.71828, 0.25)),
    ("%e|%E|%.3e|%g|%G|%g", (12345.678, 0.00012, 9.87654, 0.0001, 1e20, 100000.0)),
    ("%s|%10s|%-10s|%.2s", ("text", "right", "left", "cut")),
    ("%c%c%%", ("A", "b")),
    ("%f %e %g %f", (float("inf"), float("-inf"), float("nan"), -0.0)),
    ("%*d|%-*d|%.*f", (6, 42, 6, 42, 2, 1.23456)),
]


def literal(value: object) -> str:
    if isinstance(value, str):
        return f"'{value}'" if len(value) == 1 else f'"{value}"'
    if value != value:
        return "__longlong_as_double(0x7ff8000000000000ll)"
    if value in (float("inf"), float("-inf")):
        return f"{'-' if value == float('-inf') else ''}__longlong_as_double(0x7ff0000000000000ll)"
    return repr(value)


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(("text", "values"), SAME, ids=[text for text, _ in SAME])
def test_a_format_gives_what_c_would_print(
    harness: Served, tmp_path: Path, text: str, values: tuple[object, ...], front_end: str
) -> None:
    arguments = ", ".join(literal(value) for value in values)
    body = f'printf("{text}\\n", {arguments});'
    assert prints(harness, tmp_path, body, front_end).printed == text % values + "\n"


def test_lengths_choose_how_many_bytes_are_printed(harness: Served, tmp_path: Path) -> None:
    body = """
    printf("%lld %ld %llx %lu %hd %hhd %hu %hhu %zu\\n", -1234567890123ll, 1l << 40, 0xfedcba9876543210ull,
           18446744073709551615ul, 70000, 300, 70000, 300, sizeof(double));
    printf("%a %A %p %p %s %#o\\n", 1.0, 0.5, (void*)0x1234abcd, (void*)0, (const char*)0, 8);"""
    assert prints(harness, tmp_path, body).printed == (
        "-1234567890123 1099511627776 fedcba9876543210 18446744073709551615 4464 44 4464 44 8\n"
        "0x1p+0 0X1P-1 0x1234abcd (nil) (null) 010\n"
    )


def test_printf_returns_the_number_of_its_arguments(harness: Served, tmp_path: Path) -> None:
    launched = prints(harness, tmp_path, 'y[i] = printf("%d%%%s\\n", 3, "x") + 10 * printf("-");')
    assert launched.arrays["y"].tolist() == [2]
    assert launched.printed == "3%x\n-"


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize("threads", [1, 2])
def test_lanes_print_in_their_order_and_blocks_in_theirs(
    harness: Served, tmp_path: Path, threads: int, front_end: str
) -> None:
    body = 'if (i % 3 == 1) printf("block %d thread %d\\n", blockIdx.x, threadIdx.x);'
    launched = prints(harness, tmp_path, body, front_end, block=40, grid=5, threads=threads)
    expected = [(i // 40, i % 40) for i in range(200) if i % 3 == 1]
    assert launched.printed == "".join(f"block {b} thread {t}\n" for b, t in expected)


def test_functions_print_too_and_texts_may_lie_in_any_memory(harness: Served, tmp_path: Path) -> None:
    before = """
__device__ __noinline__ void show(const char* text, int depth) {
    printf("%d:%s;", depth, text);
    if (depth > 0) show(text + 1, depth - 1);
}
"""
    body = """char own[4] = {(char)(97 + i), 98, 99, 0};
    __shared__ char all[3];
    all[i] = i ? 0 : 90;
    show(own, 2);
    show(all, 0);"""
    printed = prints(harness, tmp_path, body, block=2, before=before).printed
    assert printed == "2:abc;2:bbc;1:bc;1:bc;0:c;0:c;0:Z;0:Z;"


def test_more_than_a_mebibyte_is_cut_with_a_note(harness: Served, tmp_path: Path) -> None:
    body = 'for (int n = 0; n < 100; ++n) printf("%0200d\\n", i);'
    launched = prints(harness, tmp_path, body, block=32, grid=4)
    note = "\n[printf: only the first 1 MiB are shown]\n"
    assert launched.printed.endswith(note)
    assert len(launched.printed) == (1 << 20) + len(note)
    assert launched.printed.startswith("0" * 200 + "\n" + "0" * 199 + "1\n")


def test_a_wild_text_is_a_fault_of_the_thread_that_prints_it(harness: Served, tmp_path: Path) -> None:
    fault = prints(harness, tmp_path, 'printf("%s", (const char*)(i == 5 ? 64 : 0));', block=8).fault
    assert fault is not None
    assert (fault["kind"], fault["line"], fault["thread"]) == ("illegal_address", 3, [5, 0, 0])


def test_an_unknown_conversion_is_printed_as_it_stands(harness: Served, tmp_path: Path) -> None:
    assert prints(harness, tmp_path, 'printf("%y %d %", 4);').printed == "%y 4 %"


@pytest.mark.parametrize("front_end", FRONT_ENDS)
def test_a_failed_assertion_names_its_condition(harness: Served, tmp_path: Path, front_end: str) -> None:
    fault = prints(harness, tmp_path, "assert(i < 3);", front_end, block=8).fault
    assert fault is not None
    assert (fault["kind"], fault["line"], fault["thread"]) == ("trap", 3, [3, 0, 0])
    assert "an assertion of kernel 'k' does not hold: i < 3 (in void k(int *))" in fault["message"]

"""What is taken against what is allowed, as tables: numbers in, findings and sentences out."""

from __future__ import annotations

from pathlib import Path

import pytest
from judged_kernels import axpy

from pytest_cudaopt import In, Out, bf16, case, f16, i32, kernel, limits
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.evaluation import Resources
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.resource_limits import ResourceLimits
from pytest_cudaopt.resources_taken import LimitsJudged, Taken, exceeded, taken

COMPILED_FOR = "sm_90, NVRTC 13.0"
TAKEN = Taken("axpy", 40, 16, 20, 1024, 4096, 8, "n1000")
ALL = ("registers", "spill_bytes", "shared_bytes", "stack_bytes")


def resources(registers: int = 40, static_shared_bytes: int = 0) -> Resources:
    return Resources(registers, 16, 20, static_shared_bytes, 8, 0)


def launch(shared_bytes: int, blocks: int = 1) -> LaunchConfiguration:
    return LaunchConfiguration((blocks, 1, 1), (64, 1, 1), shared_bytes)


def templated(folder: Path) -> Kernel:
    @kernel(
        str(folder / "copy.cu"),
        cases=[case(n=1), case(n=8, T=f16)],
        entry="copy<{T}>",
        types={"T": (f16, bf16)},
        launch="grid=(n) block=(1)",
    )
    def copy(x=In("T", "n"), y=Out("T", "n"), n=i32):
        y[...] = x

    return copy


@pytest.mark.parametrize(
    ("name", "most", "kind", "message"),
    [
        ("registers", 39, FindingKind.REGISTERS_EXCEEDED, "40 registers per thread"),
        ("spill_bytes", 35, FindingKind.SPILL_EXCEEDED, "36 bytes spilled (16 stored, 20 loaded)"),
        (
            "shared_bytes",
            4095,
            FindingKind.SHARED_EXCEEDED,
            "4096 bytes of shared memory per block (1024 static) at n1000",
        ),
        ("stack_bytes", 7, FindingKind.STACK_EXCEEDED, "8 bytes of stack per thread"),
    ],
)
def test_one_more_than_a_limit_exceeds_it(name: str, most: int, kind: FindingKind, message: str) -> None:
    (found,) = exceeded(ResourceLimits(**{name: most}), [TAKEN], COMPILED_FOR, "axpy.cu", 3)
    assert (found.kind, found.file, found.line) == (kind, "axpy.cu", 3)
    assert found.message == f"{message}, limits() allows {most} (sm_90, NVRTC 13.0)"
    assert exceeded(ResourceLimits(**{name: most + 1}), [TAKEN], COMPILED_FOR, "axpy.cu", 3) == ()


def test_every_limit_that_is_exceeded_is_a_finding() -> None:
    found = exceeded(ResourceLimits(1, 0, 0, 0), [TAKEN], COMPILED_FOR, "axpy.cu", None)
    assert [one.kind for one in found] == [
        FindingKind.REGISTERS_EXCEEDED,
        FindingKind.SPILL_EXCEEDED,
        FindingKind.SHARED_EXCEEDED,
        FindingKind.STACK_EXCEEDED,
    ]


def test_shared_memory_is_that_of_the_largest_launch_with_the_static_part(tmp_path: Path) -> None:
    one = axpy(tmp_path)
    launches = dict(zip(one.cases, [launch(512), launch(64), launch(1024)], strict=True))
    (used,) = taken(one, {"axpy": resources(static_shared_bytes=256)}, launches)
    assert (used.shared_bytes, used.static_shared_bytes, used.largest_case) == (1280, 256, "n1000")


def test_a_case_that_launches_nothing_takes_no_shared_memory(tmp_path: Path) -> None:
    one = axpy(tmp_path)
    launches = dict(zip(one.cases, [launch(4096, blocks=0), launch(64), launch(0)], strict=True))
    (used,) = taken(one, {"axpy": resources()}, launches)
    assert (used.shared_bytes, used.largest_case) == (64, "n1")


def test_without_dynamic_shared_memory_no_case_is_named(tmp_path: Path) -> None:
    one = axpy(tmp_path)
    for launches in ({}, dict.fromkeys(one.cases, launch(0))):
        (used,) = taken(one, {"axpy": resources(static_shared_bytes=256)}, launches)
        assert (used.shared_bytes, used.largest_case) == (256, "")
        assert used.text_of("shared_bytes") == "256 bytes of shared memory per block (256 static)"


def test_each_instance_is_judged_by_its_own_code_and_launches(tmp_path: Path) -> None:
    one = templated(tmp_path)
    by_entry = {"copy<__half>": resources(30), "copy<__nv_bfloat16>": resources(50)}
    shared = {case: launch(8 * number) for number, case in enumerate(one.cases)}
    used = taken(one, {**by_entry, "copy<float>": resources(255)}, shared)
    assert [(each.entry, each.registers) for each in used] == [
        ("copy<__half>", 30),
        ("copy<__nv_bfloat16>", 50),
    ]
    assert [each.shared_bytes for each in used] == [
        max(8 * number for number, case in enumerate(one.cases) if one.at(case).entry == each.entry)
        for each in used
    ]
    (found,) = exceeded(limits(registers=40), used, COMPILED_FOR, "copy.cu", None)
    assert found.message.startswith("copy<__nv_bfloat16>: 50 registers per thread")


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (limits(registers=40), "40 registers of 40, 36 B spilled, 4 KiB shared"),
        (limits(registers=45), "40 registers of 45, 36 B spilled, 4 KiB shared"),
        (limits(registers=46), "40 registers of 46, 36 B spilled, 4 KiB shared; could be registers=40"),
        (limits(registers=32), "40 registers of 32, 36 B spilled, 4 KiB shared"),
        (limits(spill_bytes=0), "40 registers, 36 B spilled of 0 B, 4 KiB shared"),
        (
            limits(shared_bytes=49152),
            "40 registers, 36 B spilled, 4 KiB shared of 48 KiB; could be shared_bytes=4096",
        ),
        (limits(stack_bytes=8), "40 registers, 36 B spilled, 4 KiB shared, 8 B stack of 8 B"),
        (
            limits(registers=64, spill_bytes=100),
            "40 registers of 64, 36 B spilled of 100 B, 4 KiB shared; could be registers=40, spill_bytes=36",
        ),
    ],
)
def test_the_note_shows_the_numbers_and_limits_that_could_be_lower(
    declared: ResourceLimits, text: str
) -> None:
    assert LimitsJudged(declared, COMPILED_FOR, (TAKEN,)).text == text


def test_the_note_is_of_the_instance_that_takes_most() -> None:
    others = (Taken("a", 30, 0, 0, 0, 0, 0), Taken("b", 20, 0, 0, 0, 100, 0))
    judged = LimitsJudged(limits(registers=30, spill_bytes=0), COMPILED_FOR, others)
    assert judged.text == "30 registers of 30, 0 B spilled, 100 B shared"

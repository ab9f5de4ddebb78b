"""`limits(...)`: what may be declared, and that mistakes in it are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judged_kernels import axpy

from pytest_cudaopt import limits, waive
from pytest_cudaopt.errors import DeclarationError
from pytest_cudaopt.resource_limits import ResourceLimits


def test_limits_are_kept_as_they_were_given() -> None:
    assert limits(registers=64, spill_bytes=0) == ResourceLimits(registers=64, spill_bytes=0)
    assert limits(shared_bytes=49152, stack_bytes=0).given == {"shared_bytes": 49152, "stack_bytes": 0}


def test_limits_are_written_as_they_are_declared() -> None:
    assert str(limits(shared_bytes=0, registers=40)) == "limits(registers=40, shared_bytes=0)"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, r"limits\(\): expected at least one limit"),
        ({"registers": None}, r"limits\(\): expected at least one limit"),
        (
            {"registers": 0},
            r"limits\(registers=\): expected a number of registers of a thread, 1 to 255, got 0",
        ),
        ({"registers": 65536}, r"limits\(registers=\): .* 1 to 255, got 65536"),
        ({"spill_bytes": -1}, r"limits\(spill_bytes=\): expected a number of bytes, .*, got -1"),
        ({"shared_bytes": 1.5}, r"limits\(shared_bytes=\): expected a number of bytes, .*, got 1.5"),
        ({"shared_bytes": 1 << 32}, r"limits\(shared_bytes=\): .* 0 to 4294967295"),
        ({"stack_bytes": True}, r"limits\(stack_bytes=\): .* got True"),
        ({"shared_bytes": "4*n"}, r"limits\(shared_bytes=\): .* got '4\*n'"),
    ],
)
def test_a_limit_that_is_none_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(DeclarationError, match=message):
        limits(**given)


@pytest.mark.parametrize("given", [64, {"registers": 64}, [limits(registers=64)]])
def test_only_limits_may_be_given_as_limits(given: Any, tmp_path: Path) -> None:
    with pytest.raises(DeclarationError, match=r"kernel 'axpy': limits=: expected limits\(...\)"):
        axpy(tmp_path, limits=given)


def test_a_declaration_keeps_its_limits(tmp_path: Path) -> None:
    assert axpy(tmp_path, limits=limits(registers=64)).limits == limits(registers=64)
    assert axpy(tmp_path).limits is None


def test_a_waiver_of_a_limit_needs_limits(tmp_path: Path) -> None:
    waivers = [waive("spill_exceeded", at="axpy.cu", reason="for now")]
    with pytest.raises(DeclarationError, match=r"waive\(\"spill_exceeded\", .*expected limits=limits"):
        axpy(tmp_path, waivers=waivers)
    assert axpy(tmp_path, waivers=waivers, limits=limits(spill_bytes=0)).waivers == tuple(waivers)

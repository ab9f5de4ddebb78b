"""Inputs and expectations, made once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from judged_kernels import axpy

from pytest_cudaopt import In, Out, case, f32, i32, prepared_case
from pytest_cudaopt import kernel as declare
from pytest_cudaopt import prepare as prepare_module
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault, ReferenceFault
from pytest_cudaopt.prepare import prepare


@pytest.fixture
def counted(tmp_path: Path) -> tuple[Kernel, list[int]]:
    """A kernel, and the sizes its reference was called with."""
    calls: list[int] = []

    def reference(x, y, n, a):
        calls.append(n)
        y[...] = a * x + 1

    return axpy(tmp_path, reference=reference), calls


def test_a_case_is_prepared_once(sim: Device, counted: tuple[Kernel, list[int]]) -> None:
    kernel, calls = counted
    first, again = (prepare(kernel, kernel.cases[0], sim) for _ in range(2))
    assert first is again
    assert first.expected is again.expected
    assert calls == [100]


def test_the_reference_waits_until_it_is_asked(sim: Device, counted: tuple[Kernel, list[int]]) -> None:
    kernel, calls = counted
    prepare(kernel, kernel.cases[0], sim)
    assert calls == []


def test_files_hold_the_inputs(sim: Device, tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    prepared = prepare(kernel, kernel.cases[0], sim)
    assert set(prepared.files) == {"x"}
    assert np.array_equal(np.fromfile(prepared.files["x"], np.float32), prepared.arguments.arrays["x"])
    assert prepared.files["x"].parent == sim.scratch


def test_expectations_cannot_be_written(sim: Device, tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    with pytest.raises(ValueError, match="read-only"):
        prepare(kernel, kernel.cases[0], sim).expected.arrays["y"][0] = 0


def test_two_declarations_do_not_share(sim: Device, tmp_path: Path) -> None:
    one, other = axpy(tmp_path), axpy(tmp_path)
    assert prepare(one, one.cases[0], sim) is not prepare(other, other.cases[0], sim)


def test_beyond_the_bound_the_oldest_is_dropped_with_its_files(
    sim: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_module, "_KEPT", {})
    kernel = axpy(tmp_path, cases=[case(n=1000, seed=i) for i in range(3)])
    monkeypatch.setattr(prepare_module, "_KEPT_BYTES", 2 * prepare(kernel, kernel.cases[0], sim).held_bytes)
    first = prepare(kernel, kernel.cases[0], sim)
    second = prepare(kernel, kernel.cases[1], sim)
    assert prepare(kernel, kernel.cases[0], sim) is first
    prepare(kernel, kernel.cases[2], sim)
    assert not second.files["x"].exists()
    assert first.files["x"].exists()
    assert prepare(kernel, kernel.cases[1], sim) is not second


def test_one_case_larger_than_the_bound_is_still_prepared(
    sim: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_module, "_KEPT_BYTES", 1)
    kernel = axpy(tmp_path)
    assert prepare(kernel, kernel.cases[0], sim).files["x"].exists()


def test_files_of_other_contents_are_dropped_with_the_case(
    sim: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_module, "_KEPT", {})
    monkeypatch.setattr(prepare_module, "_KEPT_BYTES", 1)
    kernel = axpy(tmp_path)
    contents = prepare(kernel, kernel.cases[0], sim).contents
    assert all(file.exists() for file in contents.files)
    prepare(kernel, kernel.cases[1], sim)
    assert not any(file.exists() for file in contents.files)


def test_other_contents_are_left_out_where_memory_is_short(
    sim: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = axpy(tmp_path)
    prepared = prepare(kernel, kernel.cases[0], sim)
    monkeypatch.setattr(prepared_case, "available_bytes", lambda: 10)
    assert prepared.contents.note == "timed on one set of inputs: another needs 0.0 GB of memory"
    assert prepared.contents.files == ()


def test_output_elements_are_counted(sim: Device, tmp_path: Path) -> None:
    kernel = axpy(tmp_path, cases=[case(n=0), case(n=7)])
    assert [prepare(kernel, one, sim).output_elements for one in kernel.cases] == [0, 7]


def test_a_reference_that_raises_is_a_fault_each_time(sim: Device, tmp_path: Path) -> None:
    kernel = axpy(tmp_path, reference=lambda **named: 1 / 0)
    for _ in range(2):
        with pytest.raises(ReferenceFault, match="ZeroDivisionError"):
            _ = prepare(kernel, kernel.cases[0], sim).expected


def test_a_full_scratch_folder_is_the_environments_fault(sim: Device, tmp_path: Path) -> None:
    kernel = axpy(tmp_path)
    full = replace(sim, scratch=tmp_path / "absent", _lock=-1)
    with pytest.raises(EnvironmentFault, match=r"expected room for 400 bytes, got No such file"):
        prepare(kernel, kernel.cases[0], full)


def test_a_case_larger_than_the_memory_is_refused_before_it_is_drawn(sim: Device, tmp_path: Path) -> None:
    kernel = axpy(tmp_path, cases=[case(n=10**12)])
    with pytest.raises(
        EnvironmentFault, match=r"at case\(n=1000000000000\): .* arrays that need 16000\.0 GB"
    ):
        prepare(kernel, kernel.cases[0], sim)


def test_where_the_memory_is_unknown_the_case_is_tried(
    sim: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prepare_module, "available_bytes", lambda: None)
    kernel = axpy(tmp_path)
    assert prepare(kernel, kernel.cases[0], sim).files["x"].exists()


def test_gaps_count_in_what_a_case_holds(sim: Device) -> None:
    @declare("none.cu", cases=[case(n=10)])
    def spread(x=In(f32, "n", strides=(100,)), y=Out(f32, "n"), n=i32):
        y[...] = x

    prepared = prepare(spread, spread.cases[0], sim)
    assert prepared.files["x"].stat().st_size == 4 * 901
    assert prepared.held_bytes >= 4 * 901 + 10 * (4 + 8)


def test_a_repeated_input_counts_as_what_the_reference_gets(sim: Device) -> None:
    @declare("none.cu", cases=[case(n=10)])
    def repeated(x=In(f32, "n", strides=(0,)), y=Out(f32, "n"), n=i32):
        y[...] = x

    assert prepare(repeated, repeated.cases[0], sim).arguments.input_bytes == 40

"""Counters by source line, of kernels that a compiler made."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gated_kernels import PADDED, SLOWED, declare, modelled

from pytest_cudaopt.device import Device
from pytest_cudaopt.evaluation import Latency
from pytest_cudaopt.line_counters import flattened
from pytest_cudaopt.protocol import SimOptions


def counted(folder: Path, source: str, sim: Device) -> Latency:
    kernel = declare(folder, source)
    return modelled(kernel, kernel.start(), sim, by_line=True).latency


def test_lines_of_the_source_count_what_stands_there(tmp_path: Path, sim: Device) -> None:
    lines = {one.line: one.flat for one in counted(tmp_path, PADDED, sim).by_line}
    warps = 512 * 512 // 32
    assert list(lines) == sorted(lines)
    assert lines[6]["global_load_requests"] == 8 * warps
    assert lines[6]["shared_wavefronts"] == 8 * warps
    assert "global_store_requests" not in lines[6]
    # A store stands where its statement begins.
    assert lines[8]["global_store_sectors"] == 4 * 8 * warps
    assert lines[9]["shared_requests"] == 8 * warps


@pytest.mark.parametrize("name", SLOWED)
def test_lines_add_up_to_the_launch(name: str, tmp_path: Path, sim: Device) -> None:
    latency = counted(tmp_path, SLOWED[name].edited, sim)
    total = flattened(latency.counters or {})
    for counter in (
        "global_load_sectors",
        "global_store_requests",
        "shared_wavefronts",
        "divergent_branches",
    ):
        assert sum(one.flat.get(counter, 0) for one in latency.by_line) == total[counter]


@pytest.mark.parametrize("options", [SimOptions(threads=2), SimOptions(threads=7), SimOptions(isa="x86-64")])
def test_threads_and_instruction_set_of_the_host_change_no_line(
    options: SimOptions, tmp_path: Path, sim: Device
) -> None:
    source = SLOWED["divergence"].edited
    other = replace(sim, sim=options, _lock=-1)
    assert counted(tmp_path, source, other) == counted(tmp_path, source, sim)


def test_asking_for_lines_changes_nothing_else(tmp_path: Path, sim: Device) -> None:
    kernel = declare(tmp_path, PADDED)
    plain = modelled(kernel, kernel.start(), sim).latency
    assert plain.by_line == ()
    assert replace(counted(tmp_path, PADDED, sim), by_line=()) == plain

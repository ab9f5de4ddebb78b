"""`cudaopt check` on planted bugs: it refuses them, and names kind and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from marked_lines import marks_in

from pytest_cudaopt.cli import main
from pytest_cudaopt.load import kernels_in

FOLDER = Path(__file__).parent
REFUSED = 1
# One of each kind.
TARGETS = (
    "planted_races.py::tile_reuse",
    "planted_races.py::last_block_sum",
    "planted_reads.py::halo_not_filled",
    "planted_reads.py::copy_without_wait",
    "planted_addresses.py::no_guard",
    "planted_addresses.py::odd_rows_as_vectors",
    "planted_addresses.py::normalised_in_place",
    "planted_waits.py::first_warp_waits",
    "planted_waits.py::half_a_warp_shuffles",
    "planted_waits.py::flag_behind_barrier",
    "planted_waits.py::assertion",
)


@pytest.mark.parametrize("target", TARGETS)
def test_check_refuses_a_planted_bug_and_names_its_line(
    target: str, shared_cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared_cache))
    module, name = target.split("::")
    marks = marks_in(kernels_in(FOLDER / module)[name].source)

    code = main(["check", "--device=sim", "--json", str(FOLDER / target)])

    verdict = json.loads(capsys.readouterr().out)
    named = {(found["kind"], found.get("line")) for found in verdict["findings"]}
    assert code == REFUSED
    assert named & {(kind, mark.line) for mark in marks if mark.needed for kind in mark.kinds}, named

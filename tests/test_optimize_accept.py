"""Writing the winner back: only when asked, only over what the run had loaded."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from made_up_runs import SOURCE, declare_twice

from pytest_cudaopt import directives
from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.optimize.accept import AcceptOutcome, AcceptPolicy, accept

MODELLED, MEASURED = LatencyKind.MODELLED, LatencyKind.MEASURED


@pytest.fixture
def source(tmp_path: Path) -> Path:
    declare_twice(tmp_path)
    return tmp_path / "twice.cu"


@pytest.fixture
def winner(tmp_path: Path) -> Candidate:
    return declare_twice(tmp_path).start().with_tunables({"BLOCK": 512})


@pytest.mark.parametrize(
    ("kind", "policy", "expected"),
    [
        (MEASURED, AcceptPolicy(), AcceptOutcome.NOT_ASKED),
        (MEASURED, AcceptPolicy(accept=True), AcceptOutcome.WRITTEN),
        (MODELLED, AcceptPolicy(accept=True), AcceptOutcome.ONLY_MODELLED),
        (MODELLED, AcceptPolicy(accept=True, accept_modelled=True), AcceptOutcome.WRITTEN),
        # On its own it only says what --optimize-accept may do.
        (MODELLED, AcceptPolicy(accept_modelled=True), AcceptOutcome.NOT_ASKED),
        (None, AcceptPolicy(accept=True), AcceptOutcome.ONLY_MODELLED),
    ],
)
def test_a_winner_is_written_only_where_the_policy_allows_its_kind(
    source: Path, winner: Candidate, kind: LatencyKind | None, policy: AcceptPolicy, expected: AcceptOutcome
) -> None:
    assert accept(source, SOURCE, winner, kind, policy).outcome is expected
    is_written = source.read_text() == winner.standalone_source()
    assert is_written == (expected is AcceptOutcome.WRITTEN)
    assert is_written or source.read_text() == SOURCE


@pytest.mark.parametrize(
    ("kind", "flags"),
    [
        (MEASURED, "; --optimize-accept would"),
        (MODELLED, "--optimize-accept --optimize-accept-modelled would"),
    ],
)
def test_what_is_not_written_says_which_flags_would_write_it(
    source: Path, winner: Candidate, kind: LatencyKind, flags: str
) -> None:
    assert flags in accept(source, SOURCE, winner, kind, AcceptPolicy()).message


ALWAYS = AcceptPolicy(accept=True, accept_modelled=True)


def test_nothing_is_written_if_the_start_is_best(source: Path) -> None:
    assert accept(source, SOURCE, None, MODELLED, ALWAYS).outcome is AcceptOutcome.NOTHING_BETTER
    assert source.read_text() == SOURCE


def test_a_file_that_changed_during_the_run_is_left_alone(source: Path, winner: Candidate) -> None:
    source.write_text(SOURCE + "// edited meanwhile\n")
    assert accept(source, SOURCE, winner, MODELLED, ALWAYS).outcome is AcceptOutcome.SOURCE_CHANGED
    assert source.read_text().endswith("// edited meanwhile\n")


def test_a_file_that_is_gone_is_not_made_again(source: Path, winner: Candidate) -> None:
    source.unlink()
    assert accept(source, SOURCE, winner, MODELLED, ALWAYS).outcome is AcceptOutcome.NOT_WRITABLE
    assert not source.exists()


def test_the_file_keeps_its_mode(source: Path, winner: Candidate) -> None:
    source.chmod(0o664)
    accept(source, SOURCE, winner, MODELLED, ALWAYS)
    assert stat.S_IMODE(source.stat().st_mode) == 0o664


def test_a_symbolic_link_stays_one_and_its_target_is_written(
    source: Path, winner: Candidate, tmp_path: Path
) -> None:
    link = tmp_path / "link.cu"
    link.symlink_to(source)
    accept(link, SOURCE, winner, MODELLED, ALWAYS)
    assert link.is_symlink()
    assert source.read_text() == winner.standalone_source()


def test_the_written_file_starts_at_the_winner(source: Path, winner: Candidate, tmp_path: Path) -> None:
    accept(source, SOURCE, winner, MODELLED, ALWAYS)
    assert directives.read(source.read_text(), "twice.cu").starting_values == {"BLOCK": 512}


INCLUDING = '#include "factor.h"\n' + SOURCE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "detail.h").write_text("#define TWO 3"), "its header detail.h changed"),
        (lambda folder: (folder / "factor.h").unlink(), "its header detail.h changed"),
        (lambda folder: (folder / "detail.h").touch(), ""),
    ],
    ids=["changed", "gone", "touched"],
)
def test_a_header_that_changed_during_the_run_keeps_the_winner_out(
    tmp_path: Path, change: Callable[[Path], object], message: str
) -> None:
    (tmp_path / "factor.h").write_text('#include "detail.h"\n')
    (tmp_path / "detail.h").write_text("#define TWO 2")
    winner = declare_twice(tmp_path, INCLUDING).start().with_tunables({"BLOCK": 512})
    change(tmp_path)
    acceptance = accept(tmp_path / "twice.cu", INCLUDING, winner, MODELLED, ALWAYS)
    assert message in acceptance.message
    outcome = AcceptOutcome.SOURCE_CHANGED if message else AcceptOutcome.WRITTEN
    assert acceptance.outcome is outcome
    assert ((tmp_path / "twice.cu").read_text() == INCLUDING) is bool(message)

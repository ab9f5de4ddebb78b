"""Baseline files: their texts to the letter, many who write at once, and all that must not be trusted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_up_baselines import H200, LARGE, SIM, SMALL, SOURCE, baseline_of, gated, scale_in, seen, version

from pytest_cudaopt import baseline_files, baseline_text
from pytest_cudaopt.baseline import Held
from pytest_cudaopt.baseline_files import read, record, record_properties
from pytest_cudaopt.baseline_place import slug
from pytest_cudaopt.baseline_update import Mode
from pytest_cudaopt.cache import cache_folder
from pytest_cudaopt.errors import BaselineError, EnvironmentFault
from pytest_cudaopt.settings import BASELINE_FOLDER

GOLDEN = Path(__file__).parent / "golden" / "baselines"
H100 = replace(H200, device="NVIDIA H100 80GB HBM3")
HEADER = '#define TWICE(x) (2.0f * (x))  // "quoted"\n'
PROBED = {"empty_sizes": Held(holds=True), "non_finite": Held(holds=False, why="NaN becomes 0")}
INCLUDING = '#include "twice.cuh"\n' + SOURCE.replace("2.0f * x[i]", "TWICE(x[i])")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def module(tmp_path: Path) -> Path:
    return tmp_path / "test_scale.py"


def files(module: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((module.parent / BASELINE_FOLDER).iterdir())}


def written(module: Path, case_id: str = SMALL, median_ns: float = 2_034.0, **known: Any) -> str:
    """Record what an item would have seen of the source as it is; return the note."""
    source = known.pop("source", SOURCE)
    mode = known.pop("mode", Mode.UPDATE)
    accept_slower = known.pop("accept_slower", False)
    one = seen(scale_in(module.parent, source), case_id, median_ns, **known)
    return record(module, "scale", one, mode, accept_slower)


def test_the_files_are_these_to_the_letter(module: Path) -> None:
    (module.parent / "twice.cuh").write_text(HEADER)
    declared = replace(
        scale_in(module.parent, INCLUDING), defines=(("WIDE", "1"),), options=("--fmad=false",)
    )
    record_properties(module, "scale", H200.device, PROBED, Mode.UPDATE)
    record(module, "scale", seen(declared, SMALL, 2_034.0), Mode.UPDATE)
    record(module, "scale", seen(declared, LARGE, 41_234.5), Mode.UPDATE)
    unsure = [gated("baseline", "unsure")]
    newer = replace(H200, driver="570.1")
    written(module, SMALL, 2_050.0, source=version(1), verdicts=unsure, machine=newer, on="2026-12-01")
    (module.parent / "twice.cuh").unlink()
    written(module, SMALL, 2_034.0, machine=SIM)
    assert files(module) == {path.name: path.read_text() for path in sorted(GOLDEN.iterdir())}


def test_the_golden_files_are_read_as_what_was_recorded() -> None:
    baseline = baseline_files.read_document(GOLDEN / "test_scale.scale.nvidia-h200.json")
    assert [one.source for one in baseline.versions] == [version(1), INCLUDING]
    assert baseline.versions[1].headers["twice.cuh"].text == HEADER
    medians = {id: one.seen.median_ns for v in baseline.versions[::-1] for id, one in v.cases.items()}
    assert medians == {LARGE: 41_200, SMALL: 2_050}
    machines = {one.machine.driver for v in baseline.versions for one in v.cases.values()}
    assert machines == {"570.1", "580.159.04"}
    assert baseline.properties["non_finite"] == Held(holds=False, why="NaN becomes 0")


def test_what_is_written_is_what_is_read(module: Path) -> None:
    assert read(module, "scale", H200.device) is None
    baseline = baseline_of(*_several(module.parent))
    for one in _several(module.parent):
        record(module, "scale", one, Mode.UPDATE)
    assert read(module, "scale", H200.device) == baseline
    assert len(baseline.versions) == 2


def test_what_stays_is_not_written_again(module: Path) -> None:
    written(module)
    source = module.parent / BASELINE_FOLDER / "test_scale.scale.cu"
    before = source.stat()
    written(module, LARGE)
    assert (source.stat().st_ino, source.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_properties_need_no_measured_case_and_no_case_needs_them(module: Path) -> None:
    assert record_properties(module, "scale", H200.device, PROBED, Mode.CHECK) == ""
    assert not (module.parent / BASELINE_FOLDER).exists()
    note = record_properties(module, "scale", H200.device, PROBED, Mode.UPDATE)
    assert note == "baseline of properties recorded"
    assert list(files(module)) == ["test_scale.scale.nvidia-h200.json"]
    written(module)
    found = read(module, "scale", H200.device)
    assert found is not None
    assert (found.properties, found.case_ids) == (PROBED, (SMALL,))


def test_only_a_few_lines_of_a_large_file_with_regions_are_kept(module: Path) -> None:
    source = (
        "// @cudaopt begin other\n"
        + "// other\n" * 2_000
        + f"// @cudaopt end\n// @cudaopt begin scale\n{SOURCE}// @cudaopt end\n"
        + "// @cudaopt begin third\n// @cudaopt end\n"
    )
    written(module, source=source)
    kept = files(module)["test_scale.scale.cu"]
    assert kept == f"// @cudaopt begin scale\n{SOURCE}// @cudaopt end\n"
    found = read(module, "scale", H200.device)
    assert found is not None
    assert found.versions[0].source == scale_in(module.parent, source).start().source


def test_the_same_leaves_every_byte_and_every_file_as_it_was(module: Path) -> None:
    written(module)
    before = {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in _all(module)}
    note = written(module, source=version(1), median_ns=2_100, verdicts=[gated("baseline", "same")])
    assert note == "baseline of n51 stays: the same"
    assert {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in _all(module)} == before


def test_a_slower_one_is_not_written_unless_accepted(module: Path) -> None:
    written(module)
    before = files(module)
    slower = [gated("baseline", "slower", 1.25)]
    note = written(module, source=version(1), median_ns=2_500, verdicts=slower)
    assert note == (
        "baseline of n51 stays: 25.0 % slower than the baseline; --cudaopt-accept-slower would record it"
    )
    assert files(module) == before
    written(module, source=version(1), median_ns=2_500, verdicts=slower, accept_slower=True)
    assert files(module)["test_scale.scale.cu"] == version(1)


def test_an_anchor_that_is_beaten_leaves_no_file_behind(module: Path) -> None:
    written(module)
    written(module, source=version(1), verdicts=[gated("baseline", "unsure")])
    assert files(module)["test_scale.scale.nvidia-h200.anchor.cu"] == SOURCE
    verdicts = [gated("baseline", "faster"), gated("anchor", "faster")]
    written(module, source=version(2), verdicts=verdicts)
    assert list(files(module)) == ["test_scale.scale.cu", "test_scale.scale.nvidia-h200.json"]


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.OFF])
def test_without_being_asked_to_nothing_is_even_looked_at(module: Path, mode: Mode) -> None:
    written(module)
    _document(module).write_text("broken")
    assert written(module, mode=mode) == ""
    assert _document(module).read_text() == "broken"


def test_devices_share_a_source_until_one_has_another(module: Path) -> None:
    written(module)
    written(module, machine=H100)
    assert [name for name in files(module) if name.endswith(".cu")] == ["test_scale.scale.cu"]
    faster = [gated("baseline", "faster")]
    written(module, source=version(1), machine=H100, verdicts=faster)
    own = "test_scale.scale.nvidia-h100-80gb-hbm3.cu"
    assert files(module)["test_scale.scale.cu"] == SOURCE
    assert files(module)[own] == version(1)
    for device, source in ((H200.device, SOURCE), (H100.device, version(1))):
        found = read(module, "scale", device)
        assert found is not None
        assert found.versions[0].source == source
    written(module, source=version(1), verdicts=faster)
    assert files(module)[own] == version(1)
    assert files(module)["test_scale.scale.cu"] == version(1)


def test_a_source_that_nobody_can_tell_the_owner_of_is_left_alone(module: Path) -> None:
    written(module, machine=H100)
    document = _document(module, "nvidia-h100-80gb-hbm3")
    document.write_text(document.read_text()[:-20])
    written(module, source=version(1))
    assert files(module)["test_scale.scale.cu"] == SOURCE
    assert files(module)["test_scale.scale.nvidia-h200.cu"] == version(1)
    # Another kernel's document says nothing of this one.
    record(module, "sc", seen(scale_in(module.parent), SMALL, 2_000), Mode.UPDATE)
    record(module, "sc", seen(scale_in(module.parent, version(1)), LARGE, 2_000), Mode.UPDATE)
    assert files(module)["test_scale.sc.cu"] == version(1)


def test_kernels_whose_names_begin_alike_do_not_meet(module: Path) -> None:
    declared = scale_in(module.parent)
    for name in ("scale", "scale_2", "sc"):
        record(module, name, seen(declared, SMALL, 2_000), Mode.UPDATE)
    assert sorted(files(module)) == sorted(
        f"test_scale.{name}.{end}"
        for name in ("scale", "scale_2", "sc")
        for end in ("cu", "nvidia-h200.json")
    )


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ("NVIDIA H200", "nvidia-h200"),
        ("sim (modelled h200)", "sim-h200"),
        ("NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"),
        ("Tesla V100-SXM2-16GB", "tesla-v100-sxm2-16gb"),
        ("../..", "device"),
    ],
)
def test_devices_are_part_of_file_names(device: str, expected: str) -> None:
    assert slug(device) == expected


def test_samples_go_to_the_cache_folder_and_nowhere_else(module: Path) -> None:
    one = replace(seen(scale_in(module.parent), SMALL, 2_000), samples_ns=(2_000.5, 1_999.5))
    record(module, "scale", one, Mode.UPDATE)
    (kept,) = (cache_folder() / "samples").glob("*/*.json")
    assert json.loads(kept.read_text()) == {
        "case": SMALL,
        "on": "2026-11-30",
        "samples_ns": [2_000.5, 1_999.5],
    }
    assert "1999.5" not in "".join(files(module).values())


def _several(folder: Path) -> list[Any]:
    first = scale_in(folder)
    several = [seen(first, SMALL, 2_034.0), seen(first, LARGE, 8_000)]
    later = scale_in(folder, version(1))
    return [*several, seen(later, SMALL, 1_000, [gated("baseline", "faster", 0.5)])]


def _all(module: Path) -> list[Path]:
    return sorted((module.parent / BASELINE_FOLDER).iterdir())


def _document(module: Path, device: str = "nvidia-h200") -> Path:
    return module.parent / BASELINE_FOLDER / f"test_scale.scale.{device}.json"


def _replaced(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


CONFLICT = "<<<<<<< ours\n{}\n=======\n{}\n>>>>>>> theirs\n"
CORRUPT = {
    "empty": (lambda text: "", "expected JSON, got a file that ends too early"),
    "truncated": (lambda text: text[: len(text) // 2], "expected JSON, got a file that ends too early"),
    "no JSON": (lambda text: "{a: 1}", "expected JSON, got Expecting property name"),
    "too deep": (lambda text: "[" * 100_000 + "}", "expected JSON, got"),
    "a conflict": (lambda text: CONFLICT, "expected JSON, got a merge conflict. Take one side"),
    "a list": (lambda text: "[{}]", "expected a JSON object, got list"),
    "another object": (lambda text: "{}", 'expected "schema": 1, got None'),
    "a schema that is none": (_replaced('"schema": 1', '"schema": true'), 'expected "schema": 1, got True'),
    "a later schema": (
        _replaced('"schema": 1', '"schema": 2, "more": 1'),
        "expected a schema of at most 1, got 2, of a later pytest-cudaopt. Install that one",
    ),
    "a missing key": (_replaced('"kernel": "scale",', ""), "expected a key 'kernel'"),
    "an unknown key": (_replaced('"kernel": "scale",', '"kernel": "scale", "x": 1,'), "got 'x'"),
    "a text for a number": (
        _replaced('"median_ns": 2030', '"median_ns": "2030"'),
        "cases.n51.seen.median_ns: expected a number, got '2030'",
    ),
    "a kind nobody knows": (
        _replaced('"kind": "measured"', '"kind": "guessed"'),
        "kind: expected one of measured, modelled, got 'guessed'",
    ),
    "another device": (
        _replaced('"device": "NVIDIA H200"', '"device": "NVIDIA H100"'),
        "expected 'NVIDIA H200', got 'NVIDIA H100': another's numbers. Remove it",
    ),
    "another kernel": (_replaced('"kernel": "scale"', '"kernel": "other"'), "got 'other': another's numbers"),
    "another module": (
        _replaced('"module": "test_scale"', '"module": "test_o"'),
        "got 'test_o': another's numbers",
    ),
    "another digest": (_replaced('"sha256": "', '"sha256": "0'), "expected the text that was recorded"),
    "a source elsewhere": (
        _replaced('"file": "test_scale.scale.cu"', '"file": "../scale.cu"'),
        "expected a source ../scale.cu beside it, got none",
    ),
    "no machine": (lambda text: _emptied(text, "machine", None), "expected a key 'machine', got none"),
    "no version": (lambda text: _emptied(text, "versions", []), "expected a case in every version, got none"),
}


def _emptied(text: str, key: str, value: object) -> str:
    return json.dumps({**json.loads(text), key: value})


@pytest.mark.parametrize("name", CORRUPT)
def test_a_document_that_cannot_be_trusted_is_named_and_left_alone(module: Path, name: str) -> None:
    change, expected = CORRUPT[name]
    written(module)
    path = _document(module)
    path.write_text(change(path.read_text()))
    before = files(module)
    for attempt in (
        lambda: read(module, "scale", H200.device),
        lambda: written(module, source=version(1), verdicts=[gated("baseline", "faster")]),
        lambda: written(module, LARGE, accept_slower=True),
    ):
        with pytest.raises(BaselineError) as raised:
            attempt()
        assert expected in str(raised.value)
        assert str(path) in str(raised.value)
        assert raised.value.next_step
    assert files(module) == before


def _edit(path: Path) -> None:
    path.write_text(path.read_text().replace("2.0f", "3.0f"))


SOURCES: dict[str, tuple[Callable[[Path], None], str]] = {
    "missing": (Path.unlink, "expected a source test_scale.scale.cu beside it, got none. Restore it"),
    "edited by hand": (_edit, "edited by hand, or a write that was cut short. Restore it"),
    "not UTF-8": (lambda path: path.write_bytes(b"\xff"), "expected a readable text file, got not UTF-8"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_that_is_not_what_was_recorded_is_named_and_left_alone(module: Path, name: str) -> None:
    change, expected = SOURCES[name]
    written(module)
    source = module.parent / BASELINE_FOLDER / "test_scale.scale.cu"
    change(source)
    before = {path.name: path.read_bytes() for path in _all(module)}
    with pytest.raises(BaselineError) as raised:
        read(module, "scale", H200.device)
    assert expected in str(raised.value)
    assert "test_scale.scale.cu" in str(raised.value)
    with pytest.raises(BaselineError):
        written(module, source=version(1), verdicts=[gated("baseline", "faster")])
    assert {path.name: path.read_bytes() for path in _all(module)} == before


def test_a_header_edited_by_hand_in_the_document_is_noticed(module: Path) -> None:
    (module.parent / "twice.cuh").write_text(HEADER)
    written(module, source=INCLUDING)
    path = _document(module)
    path.write_text(_replaced("(2.0f * (x))", "(4.0f * (x))")(path.read_text()))
    with pytest.raises(BaselineError, match=r"header twice\.cuh in .*edited by hand"):
        read(module, "scale", H200.device)


def test_a_folder_that_cannot_be_written_is_the_machines_fault(module: Path) -> None:
    (module.parent / BASELINE_FOLDER).write_text("in the way")
    with pytest.raises(EnvironmentFault, match=r"baseline .*expected files that can be written"):
        written(module)


def test_a_write_that_fails_half_way_leaves_the_document_as_it_was(
    module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(module)
    before = _document(module).read_text()

    def full(path: Path, content: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(baseline_files, "write_atomically", full)
    with pytest.raises(EnvironmentFault, match="No space left on device"):
        written(module, source=version(1), verdicts=[gated("baseline", "faster")])
    assert _document(module).read_text() == before
    assert read(module, "scale", H200.device) is not None


WRITER = (
    f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
"""
    + """
from dataclasses import replace
from made_up_baselines import SMALL, scale_in, seen
from pytest_cudaopt.baseline_files import record
from pytest_cudaopt.baseline_place import slug
from pytest_cudaopt.baseline_update import Mode
module, first = Path(sys.argv[1]), int(sys.argv[2])
declared = scale_in(module.parent / sys.argv[2])
print("ready", flush=True)
sys.stdin.read()
for number in range(first, first + 20):
    one = replace(seen(declared, SMALL, 1_000.0 + number), case_id=f"case{number}")
    record(module, "scale", one, Mode.UPDATE)
"""
)


def test_processes_that_write_at_once_lose_nothing(module: Path) -> None:
    writers = []
    for first in (100, 200, 300):
        (module.parent / str(first)).mkdir()
        command = [sys.executable, "-c", WRITER]
        process = subprocess.Popen(
            [*command, str(module), str(first)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        writers.append(process)
    for process in writers:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in writers:
        assert process.stdin is not None
        process.stdin.close()
    found = [read(module, "scale", H200.device) for _ in range(50)]
    assert [process.wait() for process in writers] == [0, 0, 0]
    for process in writers:
        assert process.stdout is not None
        process.stdout.close()
    last = read(module, "scale", H200.device)
    assert last is not None
    expected = sorted(f"case{number}" for first in (100, 200, 300) for number in range(first, first + 20))
    assert sorted(last.case_ids) == expected
    assert all(one is None or set(one.case_ids) <= set(expected) for one in found)


def test_threads_that_write_versions_at_once_lose_nothing(module: Path) -> None:
    several = [
        replace(seen(scale_in(module.parent, version(number)), SMALL, 1_000.0), case_id=f"case{number}")
        for number in range(1, 9)
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda one: record(module, "scale", one, Mode.UPDATE), several))
    found = read(module, "scale", H200.device)
    assert found is not None
    assert found.case_ids == tuple(sorted(one.case_id for one in several))
    assert len(found.versions) == 8


def test_without_the_lock_something_would_be_lost(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(baseline_files, "lock_folder", lambda kind: None)
    one, other = (replace(seen(scale_in(module.parent), SMALL, 1_000.0), case_id=id) for id in ("a", "b"))
    write = baseline_files.write

    def interrupted(place: Any, baseline: Any) -> None:
        # The other worker writes between this one's reading and writing.
        monkeypatch.setattr(baseline_files, "write", write)
        record(module, "scale", other, Mode.UPDATE)
        write(place, baseline)

    monkeypatch.setattr(baseline_files, "write", interrupted)
    record(module, "scale", one, Mode.UPDATE)
    found = read(module, "scale", H200.device)
    assert found is not None
    assert found.case_ids == ("a",)


def test_a_document_has_a_case_in_every_version_or_is_none(module: Path) -> None:
    written(module)
    text = _document(module).read_text()
    value = json.loads(text)
    value["versions"][0]["cases"] = {}
    with pytest.raises(BaselineError, match="expected a case in every version"):
        baseline_text.from_files(json.dumps(value), {}, "x.json")

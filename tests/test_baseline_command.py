"""`cudaopt baseline`: what it says, what it removes and takes over, and what it refuses to."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from made_up_baselines import H200, SIM, SOURCE, gated, seen, version

from conftest import Project
from pytest_cudaopt import baseline_command
from pytest_cudaopt.baseline import Held
from pytest_cudaopt.baseline_files import read, record, record_properties
from pytest_cudaopt.baseline_update import Mode, Seen
from pytest_cudaopt.load import load_kernel

YES, NO, NOT_JUDGED = 0, 1, 2
MEASURED = """\
from pytest_cudaopt import In, Out, case, f32, i32, kernel

@kernel("scale.cu", cases=[case(n=51, measure=True), case(n=4096, measure=True)])
def scale(x=In(f32, "n"), y=Out(f32, "n"), n=i32):
    '''Double x.'''
    y[...] = 2 * x
"""
DOCUMENT = "__baselines__/test_scale.scale.nvidia-h200.json"
ON_H200 = "test_scale.py::scale on NVIDIA H200"


@pytest.fixture
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The project with two measured cases, on the fifth of December."""
    monkeypatch.setattr(baseline_command, "_today", lambda: date(2026, 12, 5))
    project.write("test_scale.py", MEASURED)
    project.write("scale.cu", SOURCE)
    return project


def recorded(
    project: Project, case_id: str, median_ns: float, *, source: str = SOURCE, folder: str = ".", **known
) -> Seen:
    """Record what an item would have seen of a source that stands there only meanwhile."""
    path = project.path / folder / "scale.cu"
    before = path.read_text()
    path.write_text(source)
    module = project.path / folder / "test_scale.py"
    accept_slower = known.pop("accept_slower", False)
    one = seen(load_kernel(f"{module}::scale"), case_id, median_ns, **known)
    record(module, "scale", one, Mode.UPDATE, accept_slower)
    path.write_text(before)
    return one


def text_of(answered) -> list[str]:
    return list(answered.stdout.lines)


def names(project: Project) -> list[str]:
    return sorted(path.name for path in (project.path / "__baselines__").iterdir())


def test_without_any_it_says_how_to_record_one(here: Project) -> None:
    result = here.cudaopt("baseline", "list")
    assert result.ret == YES
    assert text_of(result) == ["no baselines below .; --cudaopt-baseline update writes them"]
    result = here.cudaopt("baseline", "show", "test_scale.py::scale")
    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["BASELINE: baseline of test_scale.py::scale", "*got*none"])
    result.stderr.fnmatch_lines(["*Record one: pytest test_scale.py --cudaopt-baseline update"])


def test_the_list_has_a_row_per_case_with_its_anchor_and_its_age(here: Project) -> None:
    recorded(here, "n51", 2_034)
    recorded(here, "n4096", 41_234)
    recorded(here, "n51", 2_050, source=version(1), verdicts=[gated("baseline", "unsure")], on="2026-12-04")
    recorded(here, "n51", 2_100, machine=SIM, on="2026-12-05")
    shutil.copytree(here.path / "__baselines__", here.path / "deep" / "er" / "__baselines__")
    shutil.copytree(here.path / "__baselines__", here.path / ".hidden" / "__baselines__")
    result = here.cudaopt("baseline", "list")
    assert result.ret == YES
    shown = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text_of(result)]
    silicon, model = "sm_90, CUDA 13.0, driver 580.159.04", "sm_90, CUDA 13.0, model 0123abcd"
    rows = [
        ["NVIDIA H200", "n4096", "41.2 us cold", "-", "2026-11-30 (5 days ago)", silicon],
        ["NVIDIA H200", "n51", "2.05 us cold", "2.03 us cold", "2026-12-04 (1 day ago)", silicon],
        ["sim (modelled h200)", "n51", "2.10 us modelled", "-", "2026-12-05 (today)", model],
    ]
    assert shown == [
        ["kernel", "device", "case", "median", "anchor", "recorded", "on"],
        *(["test_scale.py::scale", *row] for row in rows),
        *(["deep/er/test_scale.py::scale", *row] for row in rows),
    ]


def test_the_list_names_what_cannot_be_read_and_shows_the_rest(here: Project) -> None:
    recorded(here, "n51", 2_034)
    recorded(here, "n51", 2_100, machine=SIM)
    here.write(DOCUMENT, "{")
    result = here.cudaopt("baseline", "list")
    assert result.ret == NO
    result.stdout.fnmatch_lines(
        ["*sim (modelled h200)*n51*", f"{DOCUMENT}: expected JSON, got a file that ends too early. Restore*"]
    )


def test_one_is_shown_in_full(here: Project) -> None:
    probed = {"empty_sizes": Held(holds=True), "non_finite": Held(holds=False, why="NaN becomes 0")}
    recorded(here, "n51", 2_034)
    record_properties(here.path / "test_scale.py", "scale", H200.device, probed, Mode.UPDATE)
    recorded(here, "n51", 2_050, source=version(1), verdicts=[gated("baseline", "unsure")])
    recorded(here, "n51", 2_100, machine=SIM)
    result = here.cudaopt("baseline", "show", "test_scale.py::scale")
    assert result.ret == YES
    version_lines = [
        "  scale.cu, 6 lines, scale(in f32[1], out f32[1], i32)",
        "    @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)",
        "    tunables  BLOCK=64",
    ]
    on = "2026-11-30 (5 days ago), sm_90, CUDA 13.0"
    assert text_of(result) == [
        ON_H200,
        *version_lines,
        f"    baseline of n51 (n=51): 2.05 us cold, {on}, driver 580.159.04",
        *version_lines,
        f"    anchor of n51 (n=51): 2.03 us cold, {on}, driver 580.159.04",
        "  empty_sizes  holds",
        "  non_finite  does not hold: NaN becomes 0",
        "test_scale.py::scale on sim (modelled h200)",
        *version_lines,
        f"    baseline of n51 (n=51): 2.10 us modelled, 2 counters, {on}, model 0123abcd",
    ]


def test_nothing_differs_from_what_was_just_recorded(here: Project) -> None:
    recorded(here, "n51", 2_034)
    result = here.cudaopt("baseline", "diff", "test_scale.py::scale")
    assert (result.ret, text_of(result)) == (YES, [f"{ON_H200} is as recorded"])


def test_the_difference_is_a_unified_diff_and_what_else_changed(here: Project) -> None:
    here.write("twice.cuh", "#define TWICE(x) (2.0f * (x))\n")
    recorded(here, "n51", 2_034, source='#include "twice.cuh"\n' + SOURCE)
    here.write("twice.cuh", "#define TWICE(x) ((x) + (x))\n")
    source = SOURCE.replace("block=(BLOCK)", "block=(2 * BLOCK)").replace("= 64, 128", "= 128, 64")
    here.write("scale.cu", '#include "twice.cuh"\n' + source + "// @options --fmad=false\n")
    result = here.cudaopt("baseline", "diff", "test_scale.py::scale")
    assert result.ret == NO
    assert text_of(result) == [
        f"{ON_H200} differs",
        "baseline of n51:",
        "--- baseline/scale.cu",
        "+++ scale.cu",
        "@@ -1,7 +1,8 @@",
        ' #include "twice.cuh"',
        "-// @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)",
        "-// @tune BLOCK = 64, 128",
        "+// @launch grid=(cdiv(n, BLOCK)) block=(2 * BLOCK)",
        "+// @tune BLOCK = 128, 64",
        ' extern "C" __global__ void scale(const float* x, float* y, int n) {',
        "     int i = blockIdx.x * BLOCK + threadIdx.x;",
        "     if (i < n) y[i] = 2.0f * x[i];",
        " }",
        "+// @options --fmad=false",
        "--- baseline/twice.cuh",
        "+++ twice.cuh",
        "@@ -1 +1 @@",
        "-#define TWICE(x) (2.0f * (x))",
        "+#define TWICE(x) ((x) + (x))",
        "launch",
        "- @launch grid=(cdiv(n, BLOCK)) block=(BLOCK)",
        "+ @launch grid=(cdiv(n, BLOCK)) block=(2 * BLOCK)",
        "tunables",
        "- BLOCK=64",
        "+ BLOCK=128",
        "options",
        "+ --fmad=false",
    ]


@pytest.mark.parametrize("action", ["show", "diff"])
@pytest.mark.parametrize("target", ["test_scale.py", "::scale", "test_scale.py::"])
def test_a_target_that_names_no_kernel_is_refused(here: Project, action: str, target: str) -> None:
    result = here.cudaopt("baseline", action, target)
    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["*expected*MODULE::KERNEL, such as*"])


def test_pruning_leaves_what_is_declared(here: Project) -> None:
    recorded(here, "n51", 2_034)
    recorded(here, "n51", 2_050, source=version(1), verdicts=[gated("baseline", "unsure")])
    before = names(here)
    result = here.cudaopt("baseline", "prune")
    assert (result.ret, text_of(result)) == (YES, ["nothing to remove"])
    assert names(here) == before


def test_pruning_removes_what_is_no_longer_declared_and_says_what(here: Project) -> None:
    recorded(here, "n51", 2_034)
    recorded(here, "n4096", 41_200)
    folder = here.path / "__baselines__"
    for name, part in (
        ("test_gone.scale", ("test_scale", "test_gone")),
        ("test_scale.gone", ("scale", "gone")),
    ):
        text = (here.path / DOCUMENT).read_text().replace(f'"{part[0]}"', f'"{part[1]}"')
        (folder / f"{name}.nvidia-h200.json").write_text(text)
    (folder / "test_scale.scale.stray.cu").write_text("")
    here.edit("test_scale.py", "case(n=4096, measure=True)", "case(n=4096)")
    would = here.cudaopt("baseline", "prune", "--dry-run")
    assert would.ret == YES
    assert text_of(would) == [
        "would remove __baselines__/test_gone.scale.nvidia-h200.json: there is no module test_gone.py",
        "would remove __baselines__/test_scale.gone.nvidia-h200.json: "
        "there is no kernel 'gone' in test_scale.py",
        f"would shorten {DOCUMENT}: there is no measured case n4096 of 'scale'",
        "would remove __baselines__/test_scale.scale.stray.cu: no baseline refers to it",
    ]
    assert len(names(here)) == 5
    result = here.cudaopt("baseline", "prune")
    said = [
        line.replace("would remove", "removed").replace("would shorten", "shortened")
        for line in text_of(would)
    ]
    assert (result.ret, text_of(result)) == (YES, said)
    assert names(here) == ["test_scale.scale.cu", "test_scale.scale.nvidia-h200.json"]
    found = read(here.path / "test_scale.py", "scale", H200.device)
    assert found is not None
    assert found.case_ids == ("n51",)


def test_pruning_the_last_case_removes_the_sources_too(here: Project) -> None:
    recorded(here, "n4096", 41_200)
    here.edit("test_scale.py", "case(n=4096, measure=True)", "case(n=4096)")
    assert here.cudaopt("baseline", "prune").ret == YES
    assert names(here) == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [("test_scale.py", "raise OSError('no')", "OSError: no"), (DOCUMENT, "{", "ends too early")],
)
def test_pruning_leaves_what_it_cannot_judge(here: Project, name: str, text: str, why: str) -> None:
    recorded(here, "n51", 2_034)
    before = names(here)
    here.write(name, text)
    result = here.cudaopt("baseline", "prune")
    assert result.ret == NO
    said = "\n".join(text_of(result))
    assert said.startswith(f"left {DOCUMENT}: ")
    assert why in said
    assert names(here) == before


@pytest.fixture
def artefact(here: Project) -> Path:
    """A tree laid out as the project's, beside it: what a CI job has left."""
    folder = here.path / "unpacked"
    for name in ("scale.cu", "test_scale.py"):
        here.write(f"unpacked/{name}", (here.path / name).read_text())
    return folder


def applied(here: Project, *arguments: str):
    """Apply what was recorded in the artefact, as it is without test modules."""
    for name in ("scale.cu", "test_scale.py"):
        (here.path / "unpacked" / name).unlink(missing_ok=True)
    return here.cudaopt("baseline", "apply", "unpacked", *arguments)


def test_what_was_recorded_elsewhere_is_taken_over(here: Project, artefact: Path) -> None:
    recorded(here, "n51", 2_034, folder="unpacked")
    recorded(here, "n51", 2_100, folder="unpacked", machine=SIM)
    result = applied(here)
    assert result.ret == YES
    assert text_of(result) == [f"{ON_H200}: n51 new", "test_scale.py::scale on sim (modelled h200): n51 new"]
    assert names(here) == sorted(path.name for path in (artefact / "__baselines__").iterdir())
    again = applied(here)
    assert [line.split(": ")[1] for line in text_of(again)] == ["the same", "the same"]


def test_a_faster_one_replaces_and_other_cases_stay(here: Project, artefact: Path) -> None:
    recorded(here, "n51", 2_034)
    recorded(here, "n4096", 41_200)
    recorded(here, "n51", 1_800, folder="unpacked", source=version(1))
    result = applied(here)
    assert (result.ret, text_of(result)) == (YES, [f"{ON_H200}: n51 2.03 us -> 1.80 us"])
    found = read(here.path / "test_scale.py", "scale", H200.device)
    assert found is not None
    assert {id: found.recorded_at(id)[0].source for id in found.case_ids} == {
        "n51": version(1),
        "n4096": SOURCE,
    }


def test_a_slower_one_is_refused_and_changes_nothing_unless_accepted(here: Project, artefact: Path) -> None:
    recorded(here, "n51", 2_000)
    recorded(here, "n51", 2_500, folder="unpacked", source=version(1))
    before = {name: (here.path / "__baselines__" / name).read_text() for name in names(here)}
    result = applied(here)
    assert result.ret == NO
    assert text_of(result) == [
        f"{ON_H200}: refused, n51 2.00 us -> 2.50 us, 25.0 % slower; --accept-slower takes it"
    ]
    assert {name: (here.path / "__baselines__" / name).read_text() for name in names(here)} == before
    result = applied(here, "--accept-slower")
    assert (result.ret, text_of(result)) == (YES, [f"{ON_H200}: n51 2.00 us -> 2.50 us"])
    assert (here.path / "__baselines__" / "test_scale.scale.cu").read_text() == version(1)


def test_many_small_losses_cannot_be_taken_over_one_by_one(here: Project, artefact: Path) -> None:
    recorded(here, "n51", 2_000)
    recorded(here, "n51", 2_040, source=version(1), verdicts=[gated("baseline", "unsure")])
    recorded(here, "n51", 2_080, folder="unpacked", source=version(2))
    result = applied(here)
    assert result.ret == NO
    assert "refused, n51 2.00 us -> 2.08 us, 4.0 % slower" in text_of(result)[0]


def test_one_that_keeps_the_better_version_as_its_anchor_is_no_loss(here: Project, artefact: Path) -> None:
    recorded(here, "n51", 2_000)
    recorded(here, "n51", 2_000, folder="unpacked")
    recorded(here, "n51", 2_080, folder="unpacked", source=version(2), verdicts=[gated("baseline", "unsure")])
    result = applied(here)
    assert (result.ret, text_of(result)) == (YES, [f"{ON_H200}: n51 2.00 us -> 2.08 us"])
    assert "test_scale.scale.nvidia-h200.anchor.cu" in names(here)


def test_a_modelled_loss_needs_no_three_percent(here: Project, artefact: Path) -> None:
    recorded(here, "n51", 2_000, machine=SIM)
    recorded(here, "n51", 2_010, folder="unpacked", source=version(1), machine=SIM)
    assert applied(here).ret == NO
    newer = replace(SIM, model="89abcdef")
    recorded(here, "n51", 2_010, source=version(1), machine=newer, accept_slower=True)
    assert names(here)


def test_under_another_model_small_differences_are_no_loss(here: Project, artefact: Path) -> None:
    recorded(here, "n51", 2_000, machine=SIM)
    newer = replace(SIM, model="89abcdef")
    recorded(here, "n51", 2_010, folder="unpacked", source=version(1), machine=newer)
    assert applied(here).ret == YES


def test_a_module_is_found_by_its_name_if_the_artefact_is_laid_out_otherwise(
    here: Project, artefact: Path
) -> None:
    recorded(here, "n51", 2_034, folder="unpacked")
    inner = artefact / "__baselines__"
    for path in list(inner.iterdir()):
        path.rename(artefact / path.name)
    inner.rmdir()
    # The modules that came with it are not the project's.
    result = here.cudaopt("baseline", "apply", "unpacked")
    assert text_of(result) == [f"{ON_H200}: n51 new"]
    here.write("other/test_scale.py", MEASURED)
    result = here.cudaopt("baseline", "apply", "unpacked")
    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["*got*2 of that name, none at the same place"])


def _renamed(folder: Path) -> None:
    path = folder / "__baselines__" / "test_scale.scale.nvidia-h200.json"
    path.rename(path.with_name("test_scale.scale.other.json"))


def _traversing(folder: Path) -> None:
    path = folder / "__baselines__" / "test_scale.scale.nvidia-h200.json"
    path.write_text(path.read_text().replace('"module": "test_scale"', '"module": "../../test_scale"'))


def _edited(folder: Path) -> None:
    path = folder / "__baselines__" / "test_scale.scale.cu"
    path.write_text(path.read_text() + "//\n")


def _later(folder: Path) -> None:
    path = folder / "__baselines__" / "test_scale.scale.nvidia-h200.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": 9}))


def _elsewhere(folder: Path) -> None:
    (folder.parent / "test_scale.py").unlink()


def _empty(folder: Path) -> None:
    shutil.rmtree(folder / "__baselines__")


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (_renamed, "the name of what it holds, test_scale.scale.nvidia-h200.json"),
        (_traversing, "the name of what it holds"),
        (_edited, "the text that was recorded"),
        (_later, "a schema of at most 1"),
        (_elsewhere, "its test module, test_scale.py, below"),
        (_empty, "a folder __baselines__ with baselines in it"),
    ],
)
def test_what_cannot_be_trusted_is_not_taken_over_nor_anything_else(
    here: Project, artefact: Path, spoil, expected: str
) -> None:
    recorded(here, "n51", 2_034, folder="unpacked")
    recorded(here, "n51", 2_100, folder="unpacked", machine=SIM)
    spoil(artefact)
    result = applied(here)
    assert result.ret == NOT_JUDGED
    assert expected in "\n".join(result.stderr.lines)
    assert not (here.path / "__baselines__").exists()


def test_a_lost_property_is_refused_like_a_slower_case(here: Project, artefact: Path) -> None:
    held, lost = {"repeatable": Held(holds=True)}, {"repeatable": Held(holds=False, why="it races")}
    record_properties(here.path / "test_scale.py", "scale", H200.device, held, Mode.UPDATE)
    record_properties(artefact / "test_scale.py", "scale", H200.device, lost, Mode.UPDATE)
    result = applied(here)
    assert result.ret == NO
    assert text_of(result) == [f"{ON_H200}: refused, repeatable lost; --accept-slower takes it"]
    result = applied(here, "--accept-slower")
    assert (result.ret, text_of(result)) == (YES, [f"{ON_H200}: properties"])


@pytest.mark.parametrize("action", ["list", "prune", "apply"])
def test_a_folder_that_is_none_is_named(here: Project, action: str) -> None:
    result = here.cudaopt("baseline", action, "absent")
    assert result.ret == NOT_JUDGED
    result.stderr.fnmatch_lines(["SETTINGS: folder absent", "*got*none of that name"])

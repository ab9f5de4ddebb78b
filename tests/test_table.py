"""The summary table: rows survive the way through a report, and are laid out the same for any order."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from measured_latencies import batch_latency

from pytest_cudaopt.achieved import Achieved
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.gated import Gated, GateVerdict
from pytest_cudaopt.table import (
    NOT_RUN,
    Mood,
    Row,
    RowStage,
    device_lines,
    rows_from,
    table_lines,
    table_title,
)

SIM = "sim (modelled h200)"
CHECK = Row("test_a.py::scale", RowStage.CHECK, 0, "n51", "passed", SIM)
SLOW = Row("test_a.py::scale", RowStage.CHECK, 1, "n4096", "passed", SIM)
LATENCY = Row(
    "test_a.py::scale",
    RowStage.LATENCY,
    1,
    "n4096",
    "passed",
    SIM,
    median_ns=12_300.0,
    kind=LatencyKind.MODELLED,
    bound="dram",
)
OPTIMIZE = Row(
    "test_a.py::scale",
    RowStage.OPTIMIZE,
    2,
    "optimize",
    "passed",
    SIM,
    median_ns=8_000.0,
    kind=LatencyKind.MODELLED,
    start_ns=12_000.0,
    best="BLOCK=128",
    attempts=3,
    folder="results/run-001",
    note="scale.cu stays as it is",
)
ALL = [CHECK, SLOW, LATENCY, OPTIMIZE]


def texts(rows):
    return ["".join(text for text, _ in line).rstrip() for line in table_lines(rows)]


@pytest.mark.parametrize("row", [*ALL, replace(CHECK, device_note="a"), replace(CHECK, device_warning="b")])
def test_a_row_survives_a_report(row):
    # pytest-xdist moves plain values only; JSON is stricter still.
    properties = json.loads(json.dumps(row.properties()))

    assert rows_from([properties]) == [row]


def measured_row(case="n4096", notes=("the clock moved",)):
    latency = batch_latency(2_500.0, cold_ns=5_000.0, notes=notes)
    row = replace(LATENCY, case=case, median_ns=None, kind=None, bound=None)
    return row.with_latency(latency, Achieved(3.46e12, None, 0.816))


def test_a_measured_row_shows_both_modes_and_what_it_achieves():
    shown = "2.50 us batch (cold 5.00 us), IQR 0.00 %, launch floor 850 ns, 3.46 TB/s = 81.6 % of copy peak"

    assert texts([measured_row()])[1] == f"  n4096  passed  {shown}"


def test_a_measured_row_survives_a_report_with_all_its_doubts():
    row = measured_row(notes=("the clock moved", "process 17 uses the GPU", "the clock moved"))
    properties = json.loads(json.dumps(row.properties()))

    assert row.doubts == ("the clock moved", "process 17 uses the GPU")
    assert rows_from([properties]) == [row]
    assert ["cudaopt.doubts", "process 17 uses the GPU"] in properties
    assert ["cudaopt.mode", "batch"] in properties


def test_a_doubt_is_shown_once_with_the_cases_it_is_about():
    rows = [replace(measured_row("n1"), position=0), replace(measured_row("n2"), position=1)]
    line = table_lines(rows)[-1]

    assert line == (("warning: the clock moved (scale n1, scale n2)", Mood.WARNING),)
    assert sum("the clock moved" in text for text in texts(rows)) == 1
    assert "warning" not in " ".join(texts(ALL))


def test_other_plugins_properties_are_ignored():
    assert rows_from([[("owner", "me"), ("cudaopts", 1)]]) == []


def test_the_order_does_not_depend_on_who_finished_first():
    assert rows_from([row.properties() for row in reversed(ALL)]) == ALL


def test_check_and_latency_of_a_case_share_a_line():
    assert texts(ALL) == [
        "test_a.py::scale",
        "  n51       passed",
        "  n4096     passed  12.3 us modelled (dram)",
        "  optimize  passed  12.0 us -> 8.00 us modelled, 1.50x with BLOCK=128 in 3 attempts",
        "                    results/run-001",
        "                    scale.cu stays as it is",
    ]


def test_the_worse_status_of_a_case_is_shown():
    wrong = Row(SLOW.kernel, RowStage.CHECK, 1, "n4096", "wrong", SIM)

    assert texts([wrong, LATENCY])[1] == "  n4096  wrong   12.3 us modelled (dram)"


def test_a_run_that_found_nothing_faster_says_so():
    row = Row(
        "k",
        RowStage.OPTIMIZE,
        1,
        "optimize",
        "passed",
        SIM,
        9e3,
        LatencyKind.MODELLED,
        start_ns=9e3,
        attempts=4,
    )

    assert texts([row])[1].endswith("9.00 us modelled, nothing faster found in 4 attempts")
    rejected = replace(row, rejected=3)
    assert texts([rejected])[1].endswith("nothing faster found in 4 attempts, of which 3 not accepted")


def test_gains_of_several_cases_are_listed():
    row = replace(OPTIMIZE, gains="n1 1.2x, n2 1.9x")

    assert "1.50x (geometric mean) with BLOCK=128" in texts([row])[1]
    assert texts([row])[2].strip() == "n1 1.2x, n2 1.9x"


def test_tokens_and_notes_of_a_run_are_shown():
    row = replace(OPTIMIZE, tokens=960, notes=("measured anew",))

    assert [text.strip() for text in texts([row])[2:]] == [
        "measured anew",
        "results/run-001, 960 tokens",
        "scale.cu stays as it is",
    ]
    assert rows_from([row.properties()]) == [row]


def test_the_device_is_in_the_title_if_there_is_one():
    assert table_title(ALL) == f"CUDA kernels on {SIM}"
    assert texts(ALL)[0] == "test_a.py::scale"


def test_several_devices_are_named_per_kernel():
    other = Row("test_b.py::k", RowStage.CHECK, 0, "n1", "passed", "cuda:0 (H200)")

    assert table_title([CHECK, other]) == "CUDA kernels"
    assert texts([CHECK, other])[2] == "test_b.py::k on cuda:0 (H200)"


@pytest.mark.parametrize(
    ("status", "mood"),
    [
        ("passed", Mood.GOOD),
        ("unsupported", Mood.WARNING),
        ("not measured", Mood.WARNING),
        ("wrong", Mood.BAD),
    ],
)
def test_a_status_has_its_mood(status, mood):
    (_, line) = table_lines([Row("k", RowStage.CHECK, 0, "n1", status)])

    assert (status, mood) in line


@pytest.mark.parametrize(
    ("is_gpu", "missed_gpu", "lines"),
    [
        (False, False, [("auto: why", Mood.PLAIN)]),
        (False, True, [("WARNING: auto: why", Mood.BAD)]),
        (True, True, [("WARNING: auto: why", Mood.BAD)]),
        (True, False, []),
    ],
    ids=["no-gpu", "gpu-not-usable", "another-gpu", "gpu"],
)
def test_how_a_device_was_chosen_is_said_once(is_gpu, missed_gpu, lines):
    device = SimpleNamespace(is_gpu=is_gpu, description=SIM, note="auto: why", missed_gpu=missed_gpu)
    rows = [row.on(device) for row in ALL]

    assert device_lines(rows) == [(line,) for line in lines]
    assert {row.device for row in rows} == {SIM}


def test_a_device_that_was_asked_for_needs_no_word():
    device = SimpleNamespace(is_gpu=False, description=SIM, note="", missed_gpu=False)

    assert device_lines([CHECK.on(device)]) == []


@pytest.mark.parametrize(
    ("verdict", "gate", "line"),
    [
        ("slower", "31 % slower", ("slower: 31 % slower", Mood.BAD)),
        ("faster", "12 % faster", ("faster: 12 % faster", Mood.GOOD)),
        ("unsure", "too few blocks", ("unsure: too few blocks", Mood.WARNING)),
    ],
)
def test_a_verdict_stands_below_its_latency(verdict, gate, line):
    row = replace(LATENCY, verdict=verdict, gate=gate)
    (((text, mood),),) = table_lines([row])[2:]

    assert (text.strip(), mood) == line
    assert rows_from([row.properties()]) == [row]
    assert len(table_lines([LATENCY])) == 2


def test_the_numbers_of_the_worst_verdict_are_properties_of_the_report():
    slower = Gated("baseline", GateVerdict.SLOWER, "31 % slower", ratio=1.31, lower=1.3, upper=1.32)
    row = LATENCY.with_gated([Gated("anchor", GateVerdict.SAME, "the same code"), slower])
    found = dict(row.properties())

    assert {name: found[f"cudaopt.gate_{name}"] for name in ("against", "ratio", "lower", "upper")} == {
        "against": "baseline",
        "ratio": 1.31,
        "lower": 1.3,
        "upper": 1.32,
    }
    assert rows_from([row.properties()]) == [row]
    assert not any("gate" in name for name, _ in LATENCY.properties())


def test_a_latency_that_is_the_same_says_so_in_its_own_line():
    lines = table_lines([replace(LATENCY, verdict="same", gate="identical code")])

    assert len(lines) == 2
    assert lines[1][-1][0].endswith(", same as before")


def test_what_became_of_a_baseline_stands_below():
    (((text, _),),) = table_lines([replace(LATENCY, baseline_note="baseline of n4096 recorded")])[2:]

    assert text.strip() == "baseline of n4096 recorded"


def test_what_was_not_run_is_named_by_its_item():
    items = [
        Row("test_a.py::a", stage, 0, case, NOT_RUN).item
        for stage, case in (("check", "n1"), ("fuzz", "fuzz"))
    ]

    assert items == ["test_a.py::a[check-n1]", "test_a.py::a[fuzz]"]

"""The gate on `sim`, with real kernels: what became slower, why and where; what did not; what it costs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gated_kernels import COALESCED, SLOWED, candidate_of, declare, edited, modelled, plan_of

from pytest_cudaopt.device import Device
from pytest_cudaopt.gate_modelled import recorded_of, thresholds_of
from pytest_cudaopt.gate_on_sim import gate_on_sim
from pytest_cudaopt.gated import Gated, GateVerdict, Thresholds
from pytest_cudaopt.incumbent import Incumbent
from pytest_cudaopt.machine import machine_of
from pytest_cudaopt.protocol import Measure, Request

UNCOALESCED = SLOWED["no coalescing"].edited


@pytest.fixture
def asked(sim: Device, monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """What is asked of the harness, in order."""
    requests: list[Request] = []
    ask = sim.harness.ask

    def remembering(request: Request) -> object:
        requests.append(request)
        return ask(request)

    monkeypatch.setattr(sim.harness, "ask", remembering)
    return requests


def launches(asked: list[Request]) -> list[bool]:
    """Return whether each modelled launch was counted by line."""
    return [step.by_line for request in asked for step in request.steps if isinstance(step, Measure)]


def gate(
    folder: Path,
    sim: Device,
    before: str,
    after: str,
    *,
    recorded: bool = False,
    asked: list[Request] | None = None,
    thresholds: Thresholds | None = None,
    **changes: object,
) -> Gated:
    """Gate `after` against `before`, which was `recorded` on this machine or never."""
    kernel = declare(folder, after)
    earlier = candidate_of(kernel, before)
    current = modelled(kernel, kernel.start(), sim)
    incumbent = Incumbent("baseline", earlier)
    if recorded:
        kept = recorded_of(modelled(kernel, earlier, sim).latency)
        known = {kernel.id_of(kernel.cases[0]): kept}
        incumbent = replace(incumbent, recorded=known, machine=machine_of(sim))
    incumbent = replace(incumbent, **changes)  # type: ignore[arg-type]
    if asked is not None:
        asked.clear()
    return gate_on_sim(current, incumbent, sim, plan_of(kernel), thresholds)


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("name", SLOWED)
def test_a_slowed_kernel_fails_with_its_cause_and_the_line(
    name: str, recorded: bool, tmp_path: Path, sim: Device
) -> None:
    slowed = SLOWED[name]
    gated = gate(tmp_path, sim, slowed.source, slowed.edited, recorded=recorded)
    assert gated.verdict is GateVerdict.SLOWER, gated
    assert (gated.ratio or 0) >= 1.5
    cause = gated.causes[0]
    assert (cause.counter, cause.file, cause.line) == (slowed.counter, "work.cu", slowed.line), gated.reason
    assert str(cause) in gated.reason


def test_what_was_undone_is_faster(tmp_path: Path, sim: Device) -> None:
    gated = gate(tmp_path, sim, UNCOALESCED, COALESCED)
    assert (gated.verdict, gated.causes) == (GateVerdict.FASTER, ())


@pytest.mark.parametrize(
    "edits",
    [
        [("value", "number"), ("col ", "column "), ("col]", "column]"), (" col;", " column;")],
        [("    ", "  "), ("{\n", "{\n\n// A comment.\n")],
        [("float value = x[row * cols + col];\n", "float\n value = x[\n row * cols + col]\n;\n")],
    ],
    ids=["renamed", "reformatted", "on other lines"],
)
@pytest.mark.parametrize("recorded", [True, False])
def test_the_same_code_is_the_same_without_running_it(
    edits: list[tuple[str, str]], recorded: bool, tmp_path: Path, sim: Device, asked: list[Request]
) -> None:
    edits = [(old, new) for old, new in edits if old in COALESCED]
    gated = gate(tmp_path, sim, COALESCED, edited(COALESCED, *edits), recorded=recorded, asked=asked)
    assert gated.verdict is GateVerdict.SAME
    assert gated.reason == ("the same counters and modelled latency" if recorded else "identical code")
    assert launches(asked) == []


def test_an_identical_source_is_not_even_compiled(tmp_path: Path, sim: Device, asked: list[Request]) -> None:
    gated = gate(tmp_path, sim, COALESCED, COALESCED, asked=asked)
    assert (gated.verdict, gated.reason) == (GateVerdict.SAME, "identical source and launch rule")
    assert asked == []


def test_the_same_code_with_another_launch_is_run(tmp_path: Path, sim: Device, asked: list[Request]) -> None:
    rule = ("cdiv(rows, 8)) block=(32, 8)", "cdiv(rows, 8)) block=(32, 8) shared=65536")
    gated = gate(tmp_path, sim, COALESCED, edited(COALESCED, rule), asked=asked)
    assert gated.reason != "identical code"
    assert launches(asked)


def test_the_same_code_with_fewer_registers_is_run(tmp_path: Path, sim: Device) -> None:
    kernel = declare(tmp_path, COALESCED)
    case = modelled(kernel, kernel.start(), sim)
    assert case.runs_as(case.compiled, case.launch)
    module = case.compiled.module
    spilling = {name: replace(taken, registers=99) for name, taken in module.resources.items()}
    other = replace(case.compiled, module=replace(module, resources=spilling))
    assert not case.runs_as(other, case.launch)


def test_numbers_of_a_model_without_a_name_are_not_compared(
    tmp_path: Path, sim: Device, asked: list[Request], monkeypatch: pytest.MonkeyPatch
) -> None:
    nameless = replace(machine_of(sim), model="")
    monkeypatch.setattr("pytest_cudaopt.gate_on_sim.machine_of", lambda _: nameless)
    gate(tmp_path, sim, UNCOALESCED, COALESCED, recorded=True, machine=nameless, asked=asked)
    assert launches(asked) == [True]


def test_under_an_unchanged_toolchain_only_a_regression_runs_anything(
    tmp_path: Path, sim: Device, asked: list[Request]
) -> None:
    assert (
        gate(tmp_path, sim, UNCOALESCED, COALESCED, recorded=True, asked=asked).verdict is GateVerdict.FASTER
    )
    assert asked == []
    assert gate(tmp_path, sim, COALESCED, UNCOALESCED, recorded=True, asked=asked).fails
    assert launches(asked) == [True, True]


@pytest.mark.parametrize("field", ["device", "architecture", "toolkit", "model"])
def test_numbers_of_another_machine_are_not_compared(
    field: str, tmp_path: Path, sim: Device, asked: list[Request]
) -> None:
    machine = replace(machine_of(sim), **{field: "another"})
    # Had its numbers counted, it would have been slower.
    gated = gate(tmp_path, sim, UNCOALESCED, COALESCED, recorded=True, machine=machine, asked=asked)
    assert gated.verdict is GateVerdict.FASTER
    assert launches(asked) == [True]


def test_recorded_numbers_that_running_does_not_repeat_fail_nothing(tmp_path: Path, sim: Device) -> None:
    kernel = declare(tmp_path, COALESCED)
    kept = recorded_of(modelled(kernel, kernel.start(), sim).latency)
    lying = {kernel.id_of(kernel.cases[0]): replace(kept, median_ns=kept.median_ns / 10)}
    before = edited(COALESCED, ("2.0f", "3.0f"))
    earlier = Incumbent("baseline", candidate_of(kernel, before), recorded=lying, machine=machine_of(sim))
    current = modelled(kernel, kernel.start(), sim)
    assert gate_on_sim(current, earlier, sim, plan_of(kernel)).verdict is GateVerdict.SAME


def test_what_cannot_be_rebuilt_is_never_a_failure(tmp_path: Path, sim: Device) -> None:
    gone = {"candidate": None, "why_not": "baseline.cu is gone"}
    slower = gate(tmp_path, sim, COALESCED, UNCOALESCED, recorded=True, **gone)
    assert (slower.verdict, slower.warns) == (GateVerdict.UNSURE, True)
    assert "baseline.cu is gone" in slower.reason
    same = gate(tmp_path, sim, COALESCED, COALESCED, recorded=True, **gone)
    assert (same.verdict, same.warns) == (GateVerdict.SAME, False)
    unknown = gate(tmp_path, sim, COALESCED, COALESCED, **gone)
    assert (unknown.verdict, unknown.warns) == (GateVerdict.UNSURE, True)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (("const float* x", "const double* x"), "does not compile as declared now"),
        (("block=(32, 8)", "block=(32, 64)"), "has no launch here"),
        (("cols + col];", "cols + col + 99999999];"), "does not run here"),
    ],
)
def test_an_earlier_version_that_does_not_fit_any_more_is_unsure(
    edit: tuple[str, str], reason: str, tmp_path: Path, sim: Device
) -> None:
    gated = gate(tmp_path, sim, edited(COALESCED, edit), COALESCED)
    assert (gated.verdict, gated.warns, gated.causes) == (GateVerdict.UNSURE, True, ())
    assert reason in gated.reason
    assert gated.reason.startswith("not compared with the baseline: it ")


def test_a_gate_that_only_warns_still_names_the_cause(tmp_path: Path, sim: Device) -> None:
    gated = gate(tmp_path, sim, COALESCED, UNCOALESCED, thresholds=thresholds_of("warn", Thresholds()))
    assert (gated.verdict, gated.warns) == (GateVerdict.UNSURE, True)
    assert gated.causes[0].line == 6


@pytest.mark.parametrize("threads", [1, 2])
def test_the_verdict_is_the_same_text_on_any_number_of_threads(
    threads: int, tmp_path: Path, sim: Device
) -> None:
    on_threads = replace(sim, sim=replace(sim.sim, threads=threads), _lock=-1)
    first = gate(tmp_path, sim, COALESCED, UNCOALESCED)
    assert repr(gate(tmp_path, on_threads, COALESCED, UNCOALESCED)) == repr(first)

"""What `sim` adds to a GPU's fault, and when it is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from judged_kernels import axpy
from pretend_gpu import PretendedHarness, pretend

from pytest_cudaopt import case
from pytest_cudaopt import localise as localise_module
from pytest_cudaopt.answers import Answer, AnswerStatus
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import CudaoptError, EnvironmentFault, HarnessError
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.localise import fault_behind, localise, merged
from pytest_cudaopt.pipeline import evaluate
from pytest_cudaopt.protocol import Buffer, Request

GPU = Finding(FindingKind.ILLEGAL_ADDRESS, "an illegal memory access.")
SEEN = Finding(
    FindingKind.ILLEGAL_ADDRESS,
    "read past the end of 'x'.",
    file="axpy.cu",
    line=6,
    instruction="ld.global.f32",
    buffer="x",
    element=100,
    block=(1, 0, 0),
    thread=(36, 0, 0),
)
REQUEST = Request("id", "n", "cuda:0", (), buffers=(Buffer("x", 400),))


def test_the_kind_stays_the_gpus_and_the_place_is_sims() -> None:
    found = merged(replace(GPU, kind=FindingKind.TRAP), SEEN)
    message = "an illegal memory access; sim says: read past the end of 'x'."
    assert found == replace(SEEN, kind=FindingKind.TRAP, message=message)


def test_only_sim_tells_a_write_to_an_input_from_other_illegal_ones() -> None:
    written = replace(SEEN, kind=FindingKind.WRITE_TO_INPUT)
    assert merged(GPU, written).kind is FindingKind.WRITE_TO_INPUT
    assert merged(replace(GPU, kind=FindingKind.TRAP), written).kind is FindingKind.TRAP


@pytest.mark.parametrize(
    "seen",
    [
        Finding(FindingKind.ILLEGAL_ADDRESS, "somewhere"),
        replace(SEEN, kind=FindingKind.UNSUPPORTED_INSTRUCTION),
        replace(SEEN, kind=FindingKind.OUT_OF_MEMORY),
        replace(SEEN, kind=FindingKind.TIMEOUT),
        replace(SEEN, kind=FindingKind.NO_PROGRESS),
    ],
    ids=["no-place", "cannot-execute", "no-memory", "did-not-get-there", "waits"],
)
def test_what_tells_nothing_about_the_fault_changes_nothing(seen: Finding) -> None:
    assert merged(GPU, seen) is GPU


@pytest.mark.parametrize("kind", [FindingKind.TIMEOUT, FindingKind.NO_PROGRESS])
def test_an_endless_loop_is_found_by_the_budget_of_instructions_or_by_who_waits(kind: FindingKind) -> None:
    endless = Finding(FindingKind.TIMEOUT, "no answer within 5 s")
    found = merged(endless, replace(SEEN, kind=kind))
    assert (found.kind, found.line) == (FindingKind.TIMEOUT, 6)


@pytest.mark.parametrize(
    ("finding", "largest_bytes"),
    [
        (SEEN, 400),
        (Finding(FindingKind.OUT_OF_MEMORY, "no memory"), 400),
        (Finding(FindingKind.INVALID_LAUNCH, "too many threads"), 400),
        (GPU, localise_module.MOST_BYTES + 1),
    ],
    ids=["placed", "out-of-memory", "invalid-launch", "large"],
)
def test_sim_is_not_asked_for_what_it_cannot_say_quickly(
    finding: Finding, largest_bytes: int, sim: Device
) -> None:
    gpu, harness = pretend(sim)
    request = replace(REQUEST, buffers=(Buffer("x", largest_bytes),))
    assert localise(finding, request, gpu) is finding
    assert harness.asked == []


@pytest.mark.parametrize("error", [HarnessError("invalid"), EnvironmentFault("no room")], ids=repr)
def test_a_sim_that_cannot_be_asked_leaves_the_verdict_alone(
    error: CudaoptError, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: PretendedHarness, request: Request) -> Any:
        raise error

    monkeypatch.setattr(PretendedHarness, "ask", refuse)
    gpu, _ = pretend(sim)
    assert localise(GPU, REQUEST, gpu) is GPU


@pytest.mark.parametrize(
    ("seen", "largest_bytes"),
    [
        (None, 400),
        (Finding(FindingKind.ILLEGAL_ADDRESS, "somewhere"), 400),
        (replace(SEEN, kind=FindingKind.UNSUPPORTED_INSTRUCTION), 400),
        (replace(SEEN, kind=FindingKind.TIMEOUT), 400),
        (replace(SEEN, kind=FindingKind.NO_PROGRESS), 400),
        (SEEN, localise_module.MOST_BYTES + 1),
    ],
    ids=["right", "no-place", "cannot-execute", "slow", "waits", "large"],
)
def test_no_fault_is_behind_a_wrong_result_where_sim_shows_none(
    seen: Finding | None, largest_bytes: int, sim: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = AnswerStatus.OK if seen is None else AnswerStatus.FAULT

    def ask(self: PretendedHarness, request: Request) -> Answer:
        return Answer(request.id, request.nonce, status, "sim", fault=seen)

    monkeypatch.setattr(PretendedHarness, "ask", ask)
    gpu, _ = pretend(sim)
    request = replace(REQUEST, buffers=(Buffer("x", largest_bytes),))
    assert fault_behind(request, gpu) is None


def judge(folder: Path, sim: Device, *edits: tuple[str, str]) -> tuple[Evaluation, list[Request]]:
    kernel = axpy(folder, *edits, cases=[case(n=100)])
    gpu, harness = pretend(sim)
    return evaluate(kernel, kernel.start(), Plan((Stage.CHECK,), kernel.cases), gpu), harness.asked


@pytest.mark.parametrize(
    ("edit", "kind", "line"),
    [
        (("i < n", "i <= n"), FindingKind.ILLEGAL_ADDRESS, 6),
        (("y[i] =", "const_cast<float*>(x)[i] ="), FindingKind.WRITE_TO_INPUT, 6),
        (("y[i] =", "if (i == 70) __trap(); y[i] ="), FindingKind.TRAP, 6),
        (("y[i] =", "*(float*)((char*)y + 1) ="), FindingKind.MISALIGNED, 6),
    ],
    ids=["overrun", "input", "trap", "misaligned"],
)
def test_a_judged_kernel_is_blamed_at_its_line(
    edit: tuple[str, str], kind: FindingKind, line: int, tmp_path: Path, sim: Device
) -> None:
    evaluation, asked = judge(tmp_path, sim, edit)
    assert [request.device for request in asked if "check" in request.id] == ["cuda:0", "sim"]
    assert evaluation.finding is not None
    assert (evaluation.finding.kind, evaluation.finding.line) == (kind, line)
    assert evaluation.finding.message.startswith("it went wrong; sim says: ")


def test_sim_is_asked_with_a_bound_and_under_another_nonce(tmp_path: Path, sim: Device) -> None:
    _, asked = judge(tmp_path, sim, ("i < n", "i <= n"))
    judged, asked_of_sim = (request for request in asked if "check" in request.id)
    assert asked_of_sim.timeout_s == localise_module.TIMEOUT_S
    assert asked_of_sim.sim.block_instructions == 10_000_000
    assert asked_of_sim.nonce != judged.nonce


def test_a_right_kernel_asks_sim_nothing(tmp_path: Path, sim: Device) -> None:
    evaluation, asked = judge(tmp_path, sim)
    assert evaluation.accepted
    assert {request.device for request in asked} == {"cuda:0"}

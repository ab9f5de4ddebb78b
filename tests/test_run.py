"""The request that checks one case, and what comes back of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from judged_kernels import axpy
from pretend_gpu import pretend

from pytest_cudaopt.answers import Answer, AnswerStatus, StepAnswer
from pytest_cudaopt.buffers import FINITE_POISON, POISON
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import FindingKind
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.prepared_case import PreparedCase
from pytest_cudaopt.protocol import (
    Access,
    BufferArgument,
    Launch,
    Read,
    ReadGuards,
    Request,
    Reset,
    ScalarArgument,
    Step,
)
from pytest_cudaopt.run import configure, fault_on_sim, run

LAUNCH = LaunchConfiguration((2, 1, 1), (64, 1, 1), 128)


class Recorder:
    """Answers a check as a harness would, with `y` as its output."""

    def __init__(self, output: bytes, damaged: int | None = None) -> None:
        self.output = output
        self.output_again = output
        self.damaged = damaged
        self.requests: list[Request] = []

    def ask(self, request: Request) -> Answer:
        self.requests.append(request)
        steps = tuple(self._answer(step) for step in request.steps)
        guards = [i for i, step in enumerate(steps) if step.do == "read_guards"]
        if self.damaged is not None and guards:
            place = guards[self.damaged]
            steps = (*steps[:place], StepAnswer("read_guards", intact=False), *steps[place + 1 :])
        return Answer(request.id, request.nonce, AnswerStatus.OK, "sim", steps)

    def _answer(self, step: Step) -> StepAnswer:
        if isinstance(step, Read):
            is_again = step.file.endswith("-again.bin")
            changed = self.output_again != self.output if step.if_changed else None
            if changed is not False:
                Path(step.file).write_bytes(self.output_again if is_again else self.output)
            return StepAnswer("read", bytes=len(self.output), changed=changed)
        if isinstance(step, Launch):
            return StepAnswer("launch", counters={"threads": 128})
        return StepAnswer(step.DO, intact=True if isinstance(step, ReadGuards) else None)


def compiled(kernel: Kernel, sim: Device) -> Compiled:
    answer = compile_candidate(kernel, kernel.start(), sim, Budget())
    assert isinstance(answer, Compiled)
    return answer


@pytest.fixture
def checked(tmp_path: Path, sim: Device) -> tuple[PreparedCase, Compiled]:
    kernel = axpy(tmp_path)
    return prepare(kernel, kernel.cases[0], sim), compiled(kernel, sim)


def recording(
    sim: Device, output: bytes = b"\0" * 400, selector: str = "sim", damaged: int | None = None
) -> tuple[Device, Recorder]:
    recorder = Recorder(output, damaged)
    harness: Any = recorder
    return replace(sim, selector=selector, harness=harness, _lock=-1), recorder


def test_the_request_holds_buffers_arguments_and_steps_in_order(
    sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    prepared, module = checked
    device, recorder = recording(sim)
    result = run(prepared, module, LAUNCH, device, Budget(timeout_s=5, block_instructions=77))
    (request,) = recorder.requests
    x, y = request.buffers
    assert (x.name, x.bytes, x.access, x.initial_file) == ("x", 400, Access.READ, str(prepared.files["x"]))
    assert (y.name, y.access, y.initial_file, y.poison) == ("y", Access.READ_WRITE, None, POISON)
    assert x.guard_bytes == y.guard_bytes == 256
    assert [step.DO for step in request.steps] == ["load", "launch", "read_guards", "read"]
    launch: Any = request.steps[1]
    assert launch.arguments == (
        BufferArgument("x"),
        BufferArgument("y"),
        ScalarArgument("i32", "64000000"),
        ScalarArgument("f32", "0000003f"),
    )
    assert (launch.entry, launch.grid, launch.block, launch.shared_bytes) == (
        "axpy",
        (2, 1, 1),
        (64, 1, 1),
        128,
    )
    assert (request.timeout_s, request.sim.block_instructions) == (5, 77)
    assert result.counters == {"threads": 128}
    assert result.outputs is not None
    assert result.outputs["y"].dtype == np.float32


def test_outputs_are_read_from_files_of_this_request_and_removed(
    sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    device, recorder = recording(sim, np.arange(100, dtype=np.float32).tobytes())
    result = run(*checked, LAUNCH, device, Budget())
    (request,) = recorder.requests
    read: Any = request.steps[-1]
    assert request.nonce in read.file
    assert not Path(read.file).exists()
    assert result.outputs is not None
    assert result.outputs["y"].tolist() == list(range(100))


@pytest.mark.parametrize("output", [b"", b"\0" * 399, b"\0" * 404])
def test_an_output_of_another_size_is_the_harnesses_fault(
    output: bytes, sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    device, _ = recording(sim, output)
    with pytest.raises(HarnessError, match=r"output 'y': expected a file of shape \(100,\)"):
        run(*checked, LAUNCH, device, Budget())


def test_an_empty_launch_asks_nothing(sim: Device, checked: tuple[PreparedCase, Compiled]) -> None:
    device, recorder = recording(sim)
    result = run(*checked, LaunchConfiguration((0, 1, 1), (64, 1, 1)), device, Budget())
    assert recorder.requests == []
    assert result.outputs is not None
    assert result.outputs["y"].shape == (100,)


def test_a_gpu_launches_again_on_another_poison_and_looks_at_the_guards_again(
    sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    device, recorder = recording(sim, np.arange(100, dtype=np.float32).tobytes(), "cuda:0")
    result = run(*checked, LAUNCH, device, Budget())
    (request,) = recorder.requests
    assert request.device == "cuda:0"
    assert [step.DO for step in request.steps] == [
        "load",
        "launch",
        "read_guards",
        "read",
        "reset",
        "launch",
        "read_guards",
        "read",
    ]
    reads = [step for step in request.steps if isinstance(step, Read)]
    assert [step.if_changed for step in reads] == [False, True]
    first, second = (Path(step.file) for step in reads)
    assert first != second
    assert not second.exists()
    assert request.steps[4] == Reset(FINITE_POISON)
    assert request.steps[5] == request.steps[1]
    assert result.outputs is not None
    assert result.outputs["y"].tolist() == list(range(100))
    assert result.counters == {"threads": 128}
    assert result.outputs_again is None


def test_outputs_of_a_second_launch_are_kept_where_a_bit_is_another(
    sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    # Equal as numbers.
    device, _ = recording(sim, np.full(100, 0.0, np.float32).tobytes(), "cuda:0")
    device.harness.output_again = np.full(100, -0.0, np.float32).tobytes()
    result = run(*checked, LAUNCH, device, Budget())
    assert result.outputs is not None
    assert result.outputs_again is not None
    assert not np.signbit(result.outputs["y"]).any()
    assert np.signbit(result.outputs_again["y"]).all()


def test_a_request_that_launches_has_its_own_bound(
    sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    device, recorder = recording(sim)
    run(*checked, LAUNCH, device, Budget(timeout_s=5, launch_timeout_s=2))
    assert recorder.requests[0].timeout_s == 2


@pytest.mark.parametrize("damaged", [0, 1], ids=["first", "second"])
def test_a_guard_damaged_in_either_launch_is_a_fault(
    damaged: int, sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    device, _ = recording(sim, selector="cuda:0", damaged=damaged)
    result = run(*checked, LAUNCH, device, Budget())
    assert result.outputs is None
    assert result.fault is not None
    assert result.fault.kind is FindingKind.ILLEGAL_ADDRESS
    assert result.fault.message == "wrote within 256 bytes before or after 'y'"


def test_a_fault_of_a_gpu_gets_the_place_that_sim_finds(tmp_path: Path, sim: Device) -> None:
    kernel = axpy(tmp_path, ("i < n", "i <= n"))
    gpu, harness = pretend(sim)
    what = prepare(kernel, kernel.cases[0], sim), compiled(kernel, sim), LAUNCH, gpu, Budget()
    result = run(*what)
    # Most faults of trials nobody sees: only who shows one asks for its place.
    assert len(harness.asked) == 1
    fault = fault_on_sim(result.fault, *what)
    assert fault is not None
    assert (fault.kind, fault.file, fault.line) == (
        FindingKind.ILLEGAL_ADDRESS,
        "axpy.cu",
        6,
    )
    first, asked = harness.asked
    assert [step.DO for step in asked.steps] == ["compile", "load", "launch"]
    assert (first.device, asked.device) == ("cuda:0", "sim")
    assert asked.buffers == first.buffers


def test_an_answer_without_a_launch_is_refused(sim: Device, checked: tuple[PreparedCase, Compiled]) -> None:
    device, _ = recording(sim)
    nothing: Any = SimpleNamespace(ask=lambda request: Answer("id", "n", AnswerStatus.OK, "sim"))
    with pytest.raises(HarnessError, match="expected a 'launch' step, got none"):
        run(*checked, LAUNCH, replace(device, harness=nothing, _lock=-1), Budget())


def test_static_and_dynamic_shared_memory_count_together(
    tmp_path: Path, sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    prepared, module = checked
    most = sim.limits.max_shared_bytes
    (mangled, resources), *_ = (module.module.resources or {}).items()
    static = {mangled: replace(resources, static_shared_bytes=most // 2)}
    half = replace(module, module=replace(module.module, resources=static))
    kernel = axpy(tmp_path, ("block=(BLOCK)", f"block=(BLOCK) shared={most // 2 + 1}"))
    broken: Any = configure(kernel.start(), prepared, half, sim)
    assert f"{most + 1} bytes of shared memory per block ({most // 2} static)" in broken.message
    assert isinstance(configure(kernel.start(), prepared, module, sim), LaunchConfiguration)

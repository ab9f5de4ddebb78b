"""The request that checks one case, and what comes back of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judged_kernels import axpy

from pytest_cudaopt.answers import Answer, AnswerStatus, StepAnswer
from pytest_cudaopt.compile import Compiled, compile_candidate
from pytest_cudaopt.declare import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.dtypes import ALL, DType, f64
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.prepare import PreparedCase, prepare
from pytest_cudaopt.protocol import Access, BufferArgument, Read, Request, ScalarArgument
from pytest_cudaopt.run import POISON, configure, run

LAUNCH = LaunchConfiguration((2, 1, 1), (64, 1, 1), 128)


class Recorder:
    """Answers a check as a harness would, with `y` as its output."""

    def __init__(self, output: bytes) -> None:
        self.output = output
        self.requests: list[Request] = []

    def ask(self, request: Request) -> Answer:
        self.requests.append(request)
        for step in request.steps:
            if isinstance(step, Read):
                Path(step.file).write_bytes(self.output)
        steps = (
            StepAnswer("load"),
            StepAnswer("launch", counters={"threads": 128}),
            StepAnswer("read_guards", intact=True),
            StepAnswer("read", bytes=len(self.output)),
        )
        return Answer(request.id, request.nonce, AnswerStatus.OK, "sim", steps)


def compiled(kernel: Kernel, sim: Device) -> Compiled:
    answer = compile_candidate(kernel, kernel.start(), sim, Budget())
    assert isinstance(answer, Compiled)
    return answer


@pytest.fixture
def checked(tmp_path: Path, sim: Device) -> tuple[PreparedCase, Compiled]:
    kernel = axpy(tmp_path)
    return prepare(kernel, kernel.cases[0], sim), compiled(kernel, sim)


def recording(sim: Device, output: bytes = b"\0" * 400) -> tuple[Device, Recorder]:
    recorder = Recorder(output)
    harness: Any = recorder
    return replace(sim, harness=harness, _lock=-1), recorder


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL if dtype.is_float], ids=str)
def test_poison_is_nan_in_every_float_type(dtype: DType) -> None:
    pattern = bytes.fromhex(POISON) * (f64.itemsize // 2)
    values = np.frombuffer(pattern, dtype.numpy).astype(np.float64)
    assert np.isnan(values).all()


def test_poison_is_no_bool() -> None:
    assert all(byte > 1 for byte in bytes.fromhex(POISON))


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


def test_static_and_dynamic_shared_memory_count_together(
    tmp_path: Path, sim: Device, checked: tuple[PreparedCase, Compiled]
) -> None:
    prepared, module = checked
    most = sim.limits.max_shared_bytes
    half = replace(module, resources=replace(module.resources, static_shared_bytes=most // 2))
    kernel = axpy(tmp_path, ("block=(BLOCK)", f"block=(BLOCK) shared={most // 2 + 1}"))
    broken: Any = configure(kernel.start(), prepared, half, sim)
    assert f"{most + 1} bytes of shared memory per block ({most // 2} static)" in broken.message
    assert isinstance(configure(kernel.start(), prepared, module, sim), LaunchConfiguration)

"""A judged launch as a file: a request that `cudaopt replay` executes again, and the inputs it names."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.case_request import base_request, check_steps, launch_step
from pytest_cudaopt.cases import Case
from pytest_cudaopt.compile import CompileFailure, compile_candidate, source_module
from pytest_cudaopt.declared import Kernel
from pytest_cudaopt.device import Device
from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.evaluation import Budget
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.outputs import AGAIN
from pytest_cudaopt.prepare import prepare
from pytest_cudaopt.protocol import Buffer, Compile, Load, Measure, Request
from pytest_cudaopt.run import configure

# Read files must carry the nonce in their names; a fixed one makes the request the same every time.
_NONCE = "replay"


def write_replay(
    kernel: Kernel,
    candidate: Candidate,
    case: Case,
    case_id: str,
    device: Device,
    folder: Path,
    budget: Budget,
    inputs: Path,
) -> Path | None:
    """Write `CASE.json` to `folder` and what its arrays start with to `inputs`; return the request's path.

    The request names the device it ran on, and the inputs relative to itself; requests of the same case share
    them. It compiles the source, checks it as it was checked, with outputs in `CASE.replay-OUTPUT.bin` (those
    of a GPU's second launch in `CASE.replay-OUTPUT-again.bin`), and measures on these inputs alone. None if
    there is nothing to replay: the candidate does not compile or launches nothing.
    Raises EnvironmentFault if the files cannot be written.
    """
    compiled = compile_candidate(kernel, candidate, device, budget, (case,))
    if isinstance(compiled, CompileFailure):
        return None
    prepared = prepare(kernel, case, device)
    launch = configure(candidate, prepared, compiled, device)
    if isinstance(launch, Finding) or launch.is_empty:
        return None
    name = _file_name(case_id)
    base = base_request(prepared, compiled, "replay", device, budget)
    step = launch_step(prepared, compiled, launch)
    outputs = [parameter.name for parameter in prepared.arguments.outputs]
    files, again = (
        {output: f"{name}.{_NONCE}-{output}{suffix}.bin" for output in outputs} for suffix in ("", AGAIN)
    )
    request = replace(
        base,
        id=f"{kernel.name}/replay-{case_id}",
        nonce=_NONCE,
        directory=None,
        # It compiles as well.
        timeout_s=budget.timeout_s,
        modules=(source_module(kernel, candidate, device, (case,)),),
        buffers=tuple(_relative(buffer, os.path.relpath(inputs / name, folder)) for buffer in base.buffers),
        steps=(
            Compile(step.module),
            Load(step.module),
            *check_steps(prepared, compiled, launch, device, files, again),
            Measure.of(step),
        ),
    )
    return _write(request, prepared.files, folder / f"{name}.json", inputs / name)


def write_outputs(path: Path, device: Device) -> None:
    """Execute the request at `path` up to its measurement, so that its outputs lie beside it."""
    request = Request.from_json(json.loads(path.read_text()))
    steps = tuple(step for step in request.steps if not isinstance(step, Measure))
    device.ask(replace(request, directory=str(path.parent.resolve()), steps=steps))


def _write(request: Request, files: dict[str, Path], path: Path, inputs: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        inputs.mkdir(parents=True, exist_ok=True)
        for buffer, file in files.items():
            # The same case has the same inputs, whichever candidate ran on them.
            if not (inputs / f"{buffer}.bin").exists():
                shutil.copyfile(file, inputs / f"{buffer}.bin")
        path.write_text(json.dumps(request.to_json(), indent=2, allow_nan=False) + "\n")
    except OSError as error:
        raise EnvironmentFault(
            f"replay files in {path.parent}",
            expected="to be written",
            got=error.strerror or str(error),
            next_step="Free some space, or choose another results folder",
        ) from error
    return path


def _relative(buffer: Buffer, inputs: str) -> Buffer:
    """Name the initial contents relative to the request."""
    name = f"{inputs}/{buffer.name}.bin"
    if buffer.tile_file is not None:
        return replace(buffer, tile_file=name)
    return buffer if buffer.initial_file is None else replace(buffer, initial_file=name)


def _file_name(case_id: str) -> str:
    # A case may be labelled with anything.
    return re.sub(r"[^\w.~-]", "_", case_id)

"""Execute a recorded request again, and tell what came of it: what `cudaopt replay` does.

The harness does it alone (`cudaopt-harness run REQUEST.json`); this finds the compiler and the driver for it,
and waits for its turn on a GPU.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any

from pytest_cudaopt import driver, harness
from pytest_cudaopt.answers import Answer, AnswerStatus, parse_line
from pytest_cudaopt.device import open_device
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Latency
from pytest_cudaopt.finding import Finding, FindingKind
from pytest_cudaopt.latency_text import format_latency
from pytest_cudaopt.serving import without_keys
from pytest_cudaopt.toolchain import toolchain_for

_GPU = re.compile(r"^cuda:\d+$")
# The machine's or the request's fault, not the kernel's.
_NOT_JUDGED = frozenset(
    {
        FindingKind.NO_DEVICE,
        FindingKind.NO_NVRTC,
        FindingKind.IO_ERROR,
        FindingKind.OUT_OF_MEMORY,
        FindingKind.UNSUPPORTED_INSTRUCTION,
        FindingKind.INVALID_REQUEST,
    }
)


class Ending(Enum):
    """What a replay came to."""

    RAN = auto()
    FAULT = auto()
    NOT_JUDGED = auto()


@dataclass(frozen=True)
class Replayed:
    """The harness's answer, and the same as the text it wrote."""

    answer: Answer
    text: str


def execute(path: Path, environ: Mapping[str, str]) -> Replayed:
    """Have the harness execute the request at `path`; its outputs go where the request says.

    Raises EnvironmentFault for a missing compiler, harness or device, HarnessError for no answer.
    """
    selector = _selector(path)
    with _turn(selector, environ):
        # Of a request that cannot be read, the harness says what is wrong with it.
        tools = ["--nvrtc", toolchain_for(selector or "sim", environ).nvrtc]
        if library := environ.get(driver.VARIABLE):
            tools += ["--driver", library]
        command = [str(harness.locate(environ)), "run", str(path), *tools]
        environment = without_keys(environ)
        ended = subprocess.run(  # noqa: S603 - ours
            command, stdout=subprocess.PIPE, text=True, check=False, env=environment
        )
    if not ended.stdout.strip():
        raise HarnessError(
            f"replay of {path}", expected="an answer of the harness", got=f"exit code {ended.returncode}"
        )
    return Replayed(Answer.from_json(parse_line(ended.stdout, f"answer to {path}")), ended.stdout.strip())


def ending(answer: Answer) -> Ending:
    """Say what `answer` means for the kernel."""
    if answer.fault is None:
        return Ending.FAULT if _is_damaged(answer) or _findings(answer) else Ending.RAN
    return Ending.NOT_JUDGED if answer.fault.kind in _NOT_JUDGED else Ending.FAULT


def lines(answer: Answer) -> list[str]:
    """Return `answer` for a person: where it ran, its fault or latency, and what makes that doubtful."""
    if answer.fault is not None:
        seen = (line for finding in (answer.fault, *answer.findings) for line in _fault_lines(finding))
        return [*_where(answer, "failed"), *seen]
    latencies = [step.latency for step in answer.steps if step.latency is not None]
    return [
        *_where(answer, "ran"),
        *([f"  {'fault':<9} wrote before or after an array"] if _is_damaged(answer) else []),
        *(line for finding in _findings(answer) for line in _fault_lines(finding)),
        *(line for latency in latencies for line in _latency_lines(latency)),
    ]


def _findings(answer: Answer) -> list[Finding]:
    """Return what was seen in launches that were asked to look."""
    return [finding for step in answer.steps for finding in step.findings]


def _is_damaged(answer: Answer) -> bool:
    return any(step.intact is False for step in answer.steps)


def _where(answer: Answer, what: str) -> list[str]:
    ran = answer.status is not AnswerStatus.INVALID
    return [f"{answer.id or 'request'}: {what if ran else 'invalid'} on {answer.device or 'no device'}"]


def _fault_lines(fault: Finding) -> list[str]:
    found = [f"  {'fault':<9} {fault.kind}: {fault.message}"]
    if fault.file is not None and fault.line is not None:
        found.append(f"  {'at':<9} {fault.file}:{fault.line}")
        found += [f"  {'inlined':<9} at {point.file}:{point.line}" for point in fault.inlined_from]
    if fault.instruction is not None:
        found.append(f"  {'executing':<9} {fault.instruction}")
    if fault.block is not None and fault.thread is not None:
        found.append(f"  {'by':<9} block {fault.block}, thread {fault.thread}")
    return found


def _latency_lines(latency: Latency) -> list[str]:
    kind = "" if latency.mode is None else f"{latency.kind}: "
    return [
        f"  {'latency':<9} {kind}{format_latency(latency)}",
        *(f"  {'warning':<9} {note}" for note in latency.notes),
    ]


def _selector(path: Path) -> str | None:
    try:
        request: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    device = request.get("device") if isinstance(request, dict) else None
    return device if isinstance(device, str) else None


@contextmanager
def _turn(selector: str | None, environ: Mapping[str, str]) -> Iterator[None]:
    """Wait for the GPU, if the request is for one, and keep it alone: a replay measures."""
    if selector is None or not _GPU.match(selector):
        yield
        return
    # Opened for its name under which others wait; one that cannot be opened is told better than by a request.
    with open_device(selector, environ=environ) as device:
        lock = device.gpu_lock
    with nullcontext() if lock is None else lock.held(alone=True):
        yield

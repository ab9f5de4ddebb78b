"""Have `sim` count the bytes a launch touches, for declarations with `work(bytes="touched")`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.cache import cache_folder, remember
from pytest_cudaopt.case_request import base_request, launch_step
from pytest_cudaopt.errors import EnvironmentFault, HarnessError
from pytest_cudaopt.protocol import Checks, Load, Request
from pytest_cudaopt.wire import to_json

if TYPE_CHECKING:
    from pytest_cudaopt.compile import Compiled
    from pytest_cudaopt.device import Device
    from pytest_cudaopt.evaluation import Budget, Latency
    from pytest_cudaopt.launch import LaunchConfiguration
    from pytest_cudaopt.prepared_case import PreparedCase

# Larger cases, or slower kernels, are not worth the wait.
MOST_BYTES = 1 << 30
TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Touched:
    """The distinct bytes of global memory one launch reads or writes, in sectors; else why nobody knows."""

    bytes: int | None = None
    why: str = ""

    def noted(self, latency: Latency) -> Latency:
        """Return `latency` with a note where there is no count to hold it against."""
        if self.bytes is not None:
            return latency
        note = f'work(bytes="touched") could not be counted: {self.why}'
        return replace(latency, notes=(*latency.notes, note))


def count(
    prepared: PreparedCase, compiled: Compiled, launch: LaunchConfiguration, sim: Device, budget: Budget
) -> Touched:
    """Execute the launch, compiled for `sim`, and count; or take the count from the user's cache.

    The count depends on the program, the launch and the inputs alone, which are its key there.
    """
    request = base_request(prepared, compiled, "touched", sim, budget)
    step = replace(launch_step(prepared, compiled, launch), checks=Checks(touched=True))
    request = replace(request, timeout_s=min(TIMEOUT_S, budget.launching_timeout_s))
    request = replace(request, steps=(Load(step.module), step))
    if (total := sum(buffer.bytes for buffer in request.buffers)) > MOST_BYTES:
        return Touched(why=f"arrays of {total / 1e9:.1f} GB, more than sim executes for it")
    remembered = cache_folder() / "touched" / f"{_key(request, compiled, prepared, sim)}.json"
    if (known := _recall(remembered)) is not None:
        return Touched(known)
    counted = _ask(request, sim)
    if counted.bytes is not None:
        remember(remembered, json.dumps(counted.bytes).encode())
    return counted


def _ask(request: Request, sim: Device) -> Touched:
    try:
        answer = sim.ask(request)
    except (HarnessError, EnvironmentFault) as error:
        return Touched(why=str(error))
    if answer.fault is not None:
        return Touched(why=answer.fault.message)
    touched_bytes = answer.step("launch").touched_bytes
    return Touched(touched_bytes, "" if touched_bytes is not None else "sim did not say")


def _key(request: Request, compiled: Compiled, prepared: PreparedCase, sim: Device) -> str:
    binary = sim.harness.binary.stat()
    ptx = compiled.module.ptx_file
    files = [] if ptx is None else [Path(ptx)]
    files += [prepared.files[name] for name in sorted(prepared.files)]
    digest = hashlib.sha256()
    tiled = sorted(prepared.arguments.tiles)
    buffers = [replace(buffer, initial_file=None, tile_file=None) for buffer in request.buffers]
    named = (request.steps[-1], *buffers)
    parts = ([to_json(one) for one in named], tiled, f"{binary.st_size}-{binary.st_mtime_ns}")
    digest.update(json.dumps(parts, sort_keys=True).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _recall(path: Path) -> int | None:
    try:
        known = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return known if type(known) is int and known > 0 else None

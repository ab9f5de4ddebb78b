"""What a run folder says about a kernel, a candidate, an attempt: plain values, ready for JSON."""

from __future__ import annotations

import dataclasses
import inspect
import math
import platform
import textwrap
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_cudaopt import __version__
from pytest_cudaopt.dtypes import DType
from pytest_cudaopt.expressions import Expression
from pytest_cudaopt.float_expressions import FloatExpression
from pytest_cudaopt.from_files import reference_text, written
from pytest_cudaopt.optimize import comparing, held_out
from pytest_cudaopt.reference_source import ReferenceSource
from pytest_cudaopt.sandbox import shared
from pytest_cudaopt.sandboxed_function import SandboxedFunction

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.optimize.attempt import Attempt
    from pytest_cudaopt.optimize.run import Run
    from pytest_cudaopt.parameters import Parameter

Json = Any


def plain(value: object) -> Json:
    """Turn nested dataclasses, enums and tuples into what JSON holds.

    JSON has no non-finite numbers, so they become the texts "nan", "inf" and "-inf".
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Expression | FloatExpression | Path):
        return str(value)
    if isinstance(value, DType):
        return value.name
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    return plain(value.item()) if hasattr(value, "item") else str(value)


def configuration(run: Run) -> Json:
    """Describe where and how a run goes on; its `model` is null for the offline tuner."""
    kernel, device = run.kernel, run.device
    return {
        "kernel": kernel.name,
        "declared_at": str(kernel.location),
        "source": str(kernel.source),
        "device": device.description,
        "device_selector": device.selector,
        "model": run.model_name,
        "reference": kernel.reference_origin or "declared",
        "sandbox": shared.standing() if isinstance(kernel.reference, SandboxedFunction) else None,
        "options": plain(run.options),
        "package": __version__,
        "python": platform.python_version(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def signature(kernel: Kernel) -> Json:
    """Describe the kernel so that it can be read back, and its instances for who reads it."""
    instances = [
        {"entry": one.entry, "parameters": [_parameter(parameter) for parameter in one.parameters]}
        for one in kernel.instances
    ]
    return {**written.signature(kernel), "instances": instances}


def _parameter(parameter: Parameter) -> Json:
    source = parameter.values
    return {
        **plain(parameter),
        "values": None if source is None else written.generator(source),
        "cuda_types": list(parameter.cuda_types),
    }


def input_cases(kernel: Kernel) -> Json:
    """Describe the declared cases so that they can be read back."""
    return written.input_cases(kernel)


def reference_module(kernel: Kernel) -> str:
    """Return the text of a file that is the reference: a kernel's source, or a Python module."""
    if isinstance(kernel.reference, ReferenceSource | SandboxedFunction):
        return reference_source(kernel)
    try:
        text = reference_text.standalone(kernel.reference)
    except (OSError, TypeError, ValueError, SyntaxError):
        text = None
    return (
        f"# What it needs from around it is missing here.\n{reference_source(kernel)}"
        if text is None
        else text
    )


def reference_source(kernel: Kernel) -> str:
    """Return the reference's source text, or a comment that says why there is none."""
    try:
        if isinstance(kernel.reference, ReferenceSource):
            return kernel.reference.source.read_text(encoding="utf-8-sig")
        if isinstance(kernel.reference, SandboxedFunction):
            return kernel.reference.source
        return textwrap.dedent(inspect.getsource(inspect.unwrap(kernel.reference)))
    except (OSError, TypeError) as error:
        return f"# The source of {kernel.reference!r} cannot be read: {error}\n"


def candidate(one: Candidate) -> Json:
    """Describe everything about a candidate but its source."""
    return {
        "digest": one.digest,
        "file": one.file,
        "launch": one.launch.directives(),
        "tunables": one.chosen,
        "defines": dict(one.defines),
        "options": list(one.options),
    }


def attempt(one: Attempt, best: int, elapsed_s: float = 0.0) -> Json:
    """Describe an attempt as its line of the history.

    `best` is the incumbent's number after it, `elapsed_s` how long the run had gone on by then.
    """
    evaluation = one.evaluation
    latencies = evaluation.latencies
    lost = held_out.lost_outcome(evaluation)
    return {
        "attempt": one.number,
        "candidate": one.digest or None,
        "tunables": one.tunables,
        "why": one.proposal.why,
        "status": evaluation.status.value,
        "decision": one.verdict.decision.value,
        "reason": one.verdict.reason,
        "held_out_case": None if lost is None else str(lost.case),
        "latency_kind": next((latency.kind.value for latency in latencies.values()), None),
        "latency_ns": {case_id: latency.median_ns for case_id, latency in latencies.items()},
        "latency_mode": plain(comparing.modes(evaluation)),
        # What a batch is not compared with.
        "cold_ns": {
            case_id: one.cold.median_ns for case_id, one in latencies.items() if one.cold is not None
        },
        "warnings": list(comparing.warnings(evaluation)),
        "geometric_mean_ns": evaluation.geometric_mean_ns,
        "speedup": one.speedup,
        "looked": list(one.proposal.looked),
        "tokens": plain(one.proposal.usage),
        "seconds": dict(evaluation.seconds),
        "elapsed_s": round(elapsed_s, 3),
        "best": best,
    }

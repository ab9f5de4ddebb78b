"""Answers of the harness as frozen dataclasses; `harness_cpp/PROTOCOL.md` says what each field means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from pytest_cudaopt import wire
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import (
    Captured,
    Diagnostic,
    Latency,
    LatencyKind,
    Resources,
    Sampling,
    SamplingMode,
)
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.line_counters import LineCounters
from pytest_cudaopt.protocol import Extent3, without_version
from pytest_cudaopt.rounding_error import RoundingLoss


@dataclass(frozen=True)
class GpuFacts:
    """What the driver says of a GPU.

    Clocks are the highest ones, 0 where it does not say; `driver` is the newest CUDA version it supports.
    """

    uuid: str
    driver: tuple[int, int]
    memory_bytes: int
    free_bytes: int
    l2_bytes: int
    sm_clock_mhz: float
    memory_clock_mhz: float
    memory_bus_bits: int
    guard_pages: bool


@dataclass(frozen=True)
class Limits:
    """What a device allows one launch; `gpu` is there if it is one."""

    name: str
    multiprocessors: int
    max_threads_per_block: int
    max_shared_bytes: int
    warp_size: int
    max_grid: Extent3
    max_block: Extent3
    architecture: str
    gpu: GpuFacts | None = None


@dataclass(frozen=True)
class StepAnswer:
    """What one step answered; only the fields of its kind are there.

    `mode`, `arms` (samples block after block), `launches` (of a batch, between two events) and `sm_clock_mhz`
    (one per block) are of `interleave`.
    """

    do: str
    diagnostics: tuple[Diagnostic, ...] = ()
    resources: Mapping[str, Resources] = field(default_factory=dict)
    lowered: Mapping[str, str] = field(default_factory=dict)
    cubin_sha256: str | None = None
    notes: tuple[str, ...] = ()
    counters: Mapping[str, Any] | None = None
    findings: tuple[Finding, ...] = ()
    touched_bytes: int | None = None
    printed: str = ""
    rounding: RoundingLoss | None = None
    bytes: int | None = None
    changed: bool | None = None
    intact: bool | None = None
    elements: int | None = None
    sha256: str | None = None
    equal: bool | None = None
    latency: Latency | None = None
    limits: Limits | None = None
    mode: SamplingMode | None = None
    arms: tuple[Sampling, ...] = ()
    launches: int = 1
    sm_clock_mhz: tuple[float, ...] = ()


class AnswerStatus(StrEnum):
    """How a request ended."""

    OK = "ok"
    FAULT = "fault"
    INVALID = "invalid"


@dataclass(frozen=True)
class Answer:
    """The harness's answer: one entry per step that finished, and the fault that ended the rest.

    `fault_step` is the index of the step at fault, if one was, `findings` what its launch showed before and
    `printed` what its threads had printed; `ending` says that the process ends now.
    """

    id: str
    nonce: str
    status: AnswerStatus
    device: str
    steps: tuple[StepAnswer, ...] = ()
    fault: Finding | None = None
    fault_step: int | None = None
    findings: tuple[Finding, ...] = ()
    printed: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    ending: bool = False

    def step(self, do: str) -> StepAnswer:
        """Return the answer of the only step of kind `do`."""
        found = [step for step in self.steps if step.do == do]
        if len(found) != 1:
            raise HarnessError(f"answer '{self.id}'", expected=f"one '{do}' step", got=str(len(found)))
        return found[0]

    @classmethod
    def from_json(cls, value: Any) -> Answer:
        """Read an answer; raise HarnessError naming what does not fit."""
        raw = wire.from_json(_RawAnswer, without_version(value, "answer"), "answer")
        fault, fault_step, diagnostics = _read_fault(raw.fault)
        return cls(
            id=raw.id,
            nonce=raw.nonce,
            status=raw.status,
            device=raw.device,
            steps=tuple(_read_step(step, f"answer.steps[{i}]") for i, step in enumerate(raw.steps)),
            fault=fault,
            fault_step=fault_step,
            findings=_read_findings(raw.fault, "answer.fault"),
            printed=raw.fault.get("printed", "") if isinstance(raw.fault, dict) else "",
            diagnostics=diagnostics,
            ending=raw.ending,
        )


@dataclass(frozen=True)
class HarnessVersion:
    """What the harness says of itself; `model` names what decides counters and modelled latencies."""

    protocol: int
    harness: str
    isa: str
    model: str


def parse_line(text: str | bytes, what: str) -> Any:
    """Parse one line of JSON; raise HarnessError showing what came instead, non-finite numbers included."""
    try:
        return json.loads(text, parse_constant=_reject_constant)
    except ValueError as error:
        shown = text[:200]
        raise HarnessError(what, expected="one line of JSON", got=f"{shown!r} ({error})") from error


@dataclass(frozen=True)
class _RawAnswer:
    id: str
    nonce: str
    status: AnswerStatus
    device: str = ""
    steps: tuple[Any, ...] = ()
    ending: bool = False
    fault: Any = None


@dataclass(frozen=True)
class _RawTiming:
    """The latency a GPU answers."""

    median_ns: float
    mode: SamplingMode
    cold: Sampling | None = None
    batch: Sampling | None = None
    batch_refused: str | None = None
    warmup_launches: int | None = None
    tick_ns: float | None = None
    sm_clock_mhz: tuple[float, ...] = ()
    contents: int = 1
    captured: Captured | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class _RawModel:
    """The latency `sim` answers."""

    median_ns: float
    bound: str | None = None
    terms_ns: Mapping[str, float] = field(default_factory=dict)
    occupancy: Mapping[str, Any] | None = None
    blocks_sampled: int | None = None
    blocks: int | None = None
    counters: Mapping[str, Any] | None = None
    spread: float | None = None
    by_line: tuple[LineCounters, ...] = ()


def _read_step(value: Any, path: str) -> StepAnswer:
    members = dict(value) if isinstance(value, dict) else {}
    kind, latency = members.pop("kind", None), members.pop("latency", None)
    findings = _read_findings(members, path)
    members.pop("findings", None)
    loss = members.pop("rounding", None)
    step = replace(
        wire.from_json(StepAnswer, members, path),
        findings=findings,
        rounding=None if loss is None else _read_loss(loss, f"{path}.rounding"),
    )
    for number, arm in enumerate(step.arms):
        _require_positive(f"{path}.arms[{number}].median_ns", arm.median_ns)
    return step if latency is None else replace(step, latency=_read_latency(kind, latency, path))


def _read_latency(kind: Any, value: Any, path: str) -> Latency:
    at = f"{path}.latency"
    if wire.from_json(LatencyKind, kind, f"{path}.kind") is LatencyKind.MODELLED:
        model = wire.from_json(_RawModel, value, at)
        _require_positive(f"{at}.median_ns", model.median_ns)
        return Latency(
            LatencyKind.MODELLED,
            model.median_ns,
            bound=model.bound,
            terms_ns=tuple(model.terms_ns.items()),
            occupancy=model.occupancy,
            counters=model.counters,
            spread=model.spread,
            by_line=model.by_line,
        )
    return _measured(wire.from_json(_RawTiming, value, at), at)


def _measured(timing: _RawTiming, at: str) -> Latency:
    _require_positive(f"{at}.median_ns", timing.median_ns)
    latency = Latency(
        LatencyKind.MEASURED,
        timing.median_ns,
        mode=timing.mode,
        cold=timing.cold,
        batch=timing.batch,
        batch_refused=timing.batch_refused,
        warmup_launches=timing.warmup_launches,
        tick_ns=timing.tick_ns,
        sm_clock_mhz=timing.sm_clock_mhz,
        contents=timing.contents,
        captured=timing.captured,
        notes=timing.notes,
    )
    if latency.sampling is None:
        raise HarnessError(at, expected=f"the samples of mode '{timing.mode}'", got="none")
    return latency


def _require_positive(path: str, median_ns: float) -> None:
    if not median_ns > 0:
        raise HarnessError(path, expected="a number > 0", got=repr(median_ns))


def _read_fault(value: Any) -> tuple[Finding | None, int | None, tuple[Diagnostic, ...]]:
    if value is None:
        return None, None, ()
    diagnostics = value.get("diagnostics", []) if isinstance(value, dict) else []
    return (
        _read_finding(value, "answer.fault"),
        value.get("step"),
        wire.from_json(_Diagnostics, {"diagnostics": diagnostics}, "answer.fault").diagnostics,
    )


@dataclass(frozen=True)
class _Diagnostics:
    diagnostics: tuple[Diagnostic, ...]


def _read_loss(value: Any, path: str) -> RoundingLoss:
    try:
        return RoundingLoss.from_json(value)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise HarnessError(path, expected="what an instruction lost", got=f"{value!r} ({error})") from error


def _read_findings(holder: Any, path: str) -> tuple[Finding, ...]:
    """Read what an object lists as `findings`, if it does."""
    listed = holder.get("findings", ()) if isinstance(holder, dict) else ()
    if not isinstance(listed, list | tuple):
        raise HarnessError(f"{path}.findings", expected="a list", got=repr(listed))
    return tuple(_read_finding(found, f"{path}.findings[{i}]") for i, found in enumerate(listed))


def _read_finding(value: Any, path: str) -> Finding:
    try:
        return Finding.from_fault(value)
    except (KeyError, TypeError, ValueError) as error:
        raise HarnessError(
            path, expected="a fault with a known kind and a message", got=f"{value!r} ({error})"
        ) from error


def _reject_constant(text: str) -> None:
    raise ValueError(f"non-finite number {text}")

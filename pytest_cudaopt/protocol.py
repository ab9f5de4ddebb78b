"""The border with the harness as frozen dataclasses; `harness_cpp/PROTOCOL.md` says what each field means."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_cudaopt import wire
from pytest_cudaopt.errors import HarnessError
from pytest_cudaopt.evaluation import Diagnostic, Latency, LatencyKind, Resources
from pytest_cudaopt.finding import Finding

if TYPE_CHECKING:
    import numpy as np

    from pytest_cudaopt.dtypes import DType

PROTOCOL_VERSION = 1

Extent3 = tuple[int, int, int]


class Access(StrEnum):
    """What a kernel may do with a buffer."""

    READ = "read"
    WRITE = "write"
    READ_WRITE = "read_write"


@dataclass(frozen=True)
class Entry:
    """A kernel of a module; `parameters` lists the C++ types each of them may have."""

    name: str
    parameters: tuple[tuple[str, ...], ...] | None = None


@dataclass(frozen=True)
class Module:
    """A source to compile, or (`ptx_file`, `cubin_file`, `lowered`, `resources`) what compiling it gave."""

    name: str
    file: str
    source: str | None = None
    source_file: str | None = None
    options: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    architecture: str = "sm_90"
    ptx_file: str | None = None
    cubin_file: str | None = None
    lowered: Mapping[str, str] = field(default_factory=dict)
    resources: Mapping[str, Resources] = field(default_factory=dict)


@dataclass(frozen=True)
class Buffer:
    """Device memory; `poison` is a hex pattern."""

    name: str
    bytes: int
    access: Access = Access.READ_WRITE
    element_bytes: int = 1
    offset_bytes: int = 0
    guard_bytes: int = 0
    alias: str | None = None
    initial_file: str | None = None
    poison: str | None = None


@dataclass(frozen=True)
class BufferArgument:
    """A buffer's pointer."""

    buffer: str


@dataclass(frozen=True)
class NullArgument:
    """A null pointer."""

    null: bool


@dataclass(frozen=True)
class ScalarArgument:
    """A scalar's bytes in memory order, as hex; `scalar` names its dtype."""

    scalar: str
    value: str

    @classmethod
    def of(cls, dtype: DType, value: np.generic) -> ScalarArgument:
        """Return `value`, which has `dtype`, as its bytes."""
        return cls(dtype.name.rstrip("_"), value.tobytes().hex())


Argument = BufferArgument | NullArgument | ScalarArgument


@dataclass(frozen=True)
class Compile:
    DO: ClassVar[str] = "compile"
    module: str


@dataclass(frozen=True)
class Load:
    DO: ClassVar[str] = "load"
    module: str


@dataclass(frozen=True)
class Reload:
    DO: ClassVar[str] = "reload"
    module: str


@dataclass(frozen=True)
class Fill:
    DO: ClassVar[str] = "fill"
    buffer: str
    pattern: str


@dataclass(frozen=True)
class Copy:
    DO: ClassVar[str] = "copy"
    from_: str
    to: str


@dataclass(frozen=True)
class Write:
    DO: ClassVar[str] = "write"
    buffer: str
    file: str


@dataclass(frozen=True)
class Launch:
    DO: ClassVar[str] = "launch"
    module: str
    entry: str
    grid: Extent3
    block: Extent3
    arguments: tuple[Argument, ...]
    shared_bytes: int = 0


@dataclass(frozen=True)
class Read:
    DO: ClassVar[str] = "read"
    buffer: str
    file: str


@dataclass(frozen=True)
class ReadGuards:
    DO: ClassVar[str] = "read_guards"
    buffer: str


@dataclass(frozen=True)
class Digest:
    DO: ClassVar[str] = "digest"
    buffer: str


@dataclass(frozen=True)
class CompareDigest:
    DO: ClassVar[str] = "compare_digest"
    buffer: str
    sha256: str


@dataclass(frozen=True)
class Measure:
    DO: ClassVar[str] = "measure"
    module: str
    entry: str
    grid: Extent3
    block: Extent3
    arguments: tuple[Argument, ...]
    shared_bytes: int = 0
    warmup: int = 10
    samples: int = 100


@dataclass(frozen=True)
class AskLimits:
    DO: ClassVar[str] = "limits"


Step = (
    Compile
    | Load
    | Reload
    | Fill
    | Copy
    | Write
    | Launch
    | Read
    | ReadGuards
    | Digest
    | CompareDigest
    | Measure
    | AskLimits
)


@dataclass(frozen=True)
class SimOptions:
    """How `sim` executes; only `model` and `block_instructions` can change an answer."""

    threads: int = 0
    isa: str = "auto"
    model: str = "h200"
    block_instructions: int = 0


@dataclass(frozen=True)
class Request:
    """One program for the harness. `timeout_s` of 0 means none."""

    id: str
    nonce: str
    device: str
    steps: tuple[Step, ...]
    directory: str | None = None
    timeout_s: float = 0.0
    nvrtc: str | None = None
    sim: SimOptions = SimOptions()
    modules: tuple[Module, ...] = ()
    buffers: tuple[Buffer, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the request as the harness reads it."""
        members: dict[str, Any] = wire.to_json(self)
        return {"protocol": PROTOCOL_VERSION, **members}

    @classmethod
    def from_json(cls, value: Any) -> Request:
        """Read a request; raise HarnessError naming what does not fit."""
        return wire.from_json(cls, _without_version(value, "request"), "request")


@dataclass(frozen=True)
class Limits:
    """What a device allows one launch."""

    name: str
    multiprocessors: int
    max_threads_per_block: int
    max_shared_bytes: int
    warp_size: int
    max_grid: Extent3
    max_block: Extent3
    architecture: str


@dataclass(frozen=True)
class StepAnswer:
    """What one step answered; only the fields of its kind are there."""

    do: str
    diagnostics: tuple[Diagnostic, ...] = ()
    resources: Mapping[str, Resources] = field(default_factory=dict)
    lowered: Mapping[str, str] = field(default_factory=dict)
    cubin_sha256: str | None = None
    notes: tuple[str, ...] = ()
    counters: Mapping[str, Any] | None = None
    bytes: int | None = None
    intact: bool | None = None
    sha256: str | None = None
    equal: bool | None = None
    latency: Latency | None = None
    limits: Limits | None = None


class AnswerStatus(StrEnum):
    """How a request ended."""

    OK = "ok"
    FAULT = "fault"
    INVALID = "invalid"


@dataclass(frozen=True)
class Answer:
    """The harness's answer: one entry per step that finished, and the fault that ended the rest.

    `fault_step` is the index of the step at fault, if one was.
    """

    id: str
    nonce: str
    status: AnswerStatus
    device: str
    steps: tuple[StepAnswer, ...] = ()
    fault: Finding | None = None
    fault_step: int | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    def step(self, do: str) -> StepAnswer:
        """Return the answer of the only step of kind `do`."""
        found = [step for step in self.steps if step.do == do]
        if len(found) != 1:
            raise HarnessError(f"answer '{self.id}'", expected=f"one '{do}' step", got=str(len(found)))
        return found[0]

    @classmethod
    def from_json(cls, value: Any) -> Answer:
        """Read an answer; raise HarnessError naming what does not fit."""
        raw = wire.from_json(_RawAnswer, _without_version(value, "answer"), "answer")
        fault, fault_step, diagnostics = _read_fault(raw.fault)
        return cls(
            id=raw.id,
            nonce=raw.nonce,
            status=raw.status,
            device=raw.device,
            steps=tuple(_read_step(step, f"answer.steps[{i}]") for i, step in enumerate(raw.steps)),
            fault=fault,
            fault_step=fault_step,
            diagnostics=diagnostics,
        )


@dataclass(frozen=True)
class HarnessVersion:
    """What the harness says of itself."""

    protocol: int
    harness: str
    isa: str


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
    fault: Any = None


@dataclass(frozen=True)
class _RawLatency:
    median_ns: float
    samples_ns: tuple[float, ...] = ()
    bound: str | None = None
    terms_ns: Mapping[str, float] = field(default_factory=dict)
    occupancy: Mapping[str, Any] | None = None
    blocks_sampled: int | None = None
    blocks: int | None = None
    counters: Mapping[str, Any] | None = None
    spread: float | None = None


def _read_step(value: Any, path: str) -> StepAnswer:
    members = dict(value) if isinstance(value, dict) else {}
    kind, latency = members.pop("kind", None), members.pop("latency", None)
    step = wire.from_json(StepAnswer, members, path)
    return step if latency is None else replace(step, latency=_read_latency(kind, latency, path))


def _read_latency(kind: Any, value: Any, path: str) -> Latency:
    raw = wire.from_json(_RawLatency, value, f"{path}.latency")
    if not raw.median_ns > 0:
        raise HarnessError(f"{path}.latency.median_ns", expected="a number > 0", got=repr(raw.median_ns))
    return Latency(
        kind=wire.from_json(LatencyKind, kind, f"{path}.kind"),
        median_ns=raw.median_ns,
        samples_ns=raw.samples_ns,
        bound=raw.bound,
        terms_ns=tuple(raw.terms_ns.items()),
        occupancy=raw.occupancy,
        counters=raw.counters,
        spread=raw.spread,
    )


def _read_fault(value: Any) -> tuple[Finding | None, int | None, tuple[Diagnostic, ...]]:
    if value is None:
        return None, None, ()
    diagnostics = value.get("diagnostics", []) if isinstance(value, dict) else []
    return (
        _read_finding(value),
        value.get("step"),
        wire.from_json(_Diagnostics, {"diagnostics": diagnostics}, "answer.fault").diagnostics,
    )


@dataclass(frozen=True)
class _Diagnostics:
    diagnostics: tuple[Diagnostic, ...]


def _read_finding(value: Any) -> Finding:
    try:
        return Finding.from_fault(value)
    except (KeyError, TypeError, ValueError) as error:
        raise HarnessError(
            "answer.fault", expected="a fault with a known kind and a message", got=f"{value!r} ({error})"
        ) from error


def _without_version(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise HarnessError(path, expected="an object", got=repr(value))
    members = dict(value)
    version = members.pop("protocol", None)
    if version != PROTOCOL_VERSION:
        raise HarnessError(f"{path}.protocol", expected=str(PROTOCOL_VERSION), got=repr(version))
    return members


def _reject_constant(text: str) -> None:
    raise ValueError(f"non-finite number {text}")

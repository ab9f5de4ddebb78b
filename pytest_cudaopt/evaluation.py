"""What is asked of the judge, and what it answers: plans, outcomes, evaluations."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.candidate import Candidate
from pytest_cudaopt.cases import Case
from pytest_cudaopt.finding import Finding
from pytest_cudaopt.gated import Gated, Thresholds
from pytest_cudaopt.launch import LaunchConfiguration
from pytest_cudaopt.line_counters import LineCounters
from pytest_cudaopt.properties import Property
from pytest_cudaopt.resources_taken import LimitsJudged
from pytest_cudaopt.sanitized import Sanitized
from pytest_cudaopt.tripwire import Tripwire

if TYPE_CHECKING:
    from pytest_cudaopt.incumbent import Incumbent

# What one case may have, in all its arrays, for the checks of `sim` to be quick.
SANITIZE_ELEMENTS = 1 << 16


class Stage(StrEnum):
    """The stages of the chain, cheapest first."""

    COMPILE = "compile"
    LIMITS = "limits"
    SCAN = "scan"
    CHECK = "check"
    PROBE = "probe"
    FUZZ = "fuzz"
    CONTRACT = "contract"
    SANITIZE = "sanitize"
    MEASURE = "measure"
    GATE = "gate"


@dataclass(frozen=True)
class Budget:
    """Limits of one evaluation.

    `timeout_s` bounds each request to the harness, `launch_timeout_s` those that launch (None: the same);
    `block_instructions` bounds the warp instructions one block may execute on `sim` (None: the harness's own
    bound).
    """

    timeout_s: float = 120.0
    block_instructions: int | None = None
    launch_timeout_s: float | None = None

    @property
    def launching_timeout_s(self) -> float:
        """The bound of a request that launches."""
        return self.timeout_s if self.launch_timeout_s is None else self.launch_timeout_s


@dataclass(frozen=True)
class Plan:
    """Which stages to run on which cases. Stages run in the chain's order and stop at the first failure.

    SANITIZE runs on those of `cases` whose arrays have at most `sanitize_elements` together, and always on
    the smallest, with `rounding` also for the rounding errors of declared ones; MEASURE on those that declare
    `measure=True`. With a `witness` and `fuzz_examples`, SANITIZE runs on a few drawn cases too. `warmup`
    and `samples` count launches; a `relative_error` above 0 asks for more samples until the median's standard
    error is below that share. With `stop_at_first` a stage stops at its first failing case, and the cases
    after it are missing from the evaluation.

    LIMITS holds what was compiled against the kernel's limits, if it has some.
    SCAN looks through the compiled code: it judges nothing, but says where to look.
    PROBE launches the smallest of `cases` again and again, FUZZ draws `fuzz_examples` cases from `fuzz_seed`,
    CONTRACT asks for what the `witness`, the starting kernel, can do beyond what is declared. Without a
    witness there is nothing to hold a candidate against, and the three do nothing. With `is_start` the
    candidate is the starting kernel itself, which is held to the sizes of its contract.

    GATE holds what was measured against each of `incumbents`, by `thresholds`; it fails no evaluation.
    """

    stages: tuple[Stage, ...]
    cases: tuple[Case, ...]
    seed: int = 0
    budget: Budget = Budget()
    warmup: int = 10
    samples: int = 100
    relative_error: float = 0.0
    stop_at_first: bool = False
    sanitize_elements: int = SANITIZE_ELEMENTS
    rounding: bool = False
    fuzz_examples: int = 0
    fuzz_seed: int = 0
    witness: Candidate | None = None
    is_start: bool = False
    incumbents: tuple[Incumbent, ...] = ()
    thresholds: Thresholds = field(default_factory=Thresholds)

    @property
    def measured(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases if case.measure)


class Status(StrEnum):
    """The judge's verdicts, spelled as `cudaopt check --json` spells them."""

    ACCEPTED = "accepted"
    COMPILE_ERROR = "compile_error"
    WRONG_RESULT = "wrong_result"
    FINDING = "finding"
    LOST_PROPERTY = "lost_property"
    FAULT = "fault"
    NOT_JUDGED = "not_judged"


@dataclass(frozen=True)
class Diagnostic:
    """One message of the compiler."""

    file: str
    line: int
    column: int
    severity: str
    text: str

    def __str__(self) -> str:
        column = f":{self.column}" if self.column else ""
        return f"{self.file}:{self.line}{column}: {self.severity}: {self.text}"


@dataclass(frozen=True)
class Resources:
    """What the compiled entry takes per thread (registers, spills) and per block (static shared)."""

    registers: int
    spill_store_bytes: int
    spill_load_bytes: int
    static_shared_bytes: int
    stack_bytes: int
    constant_bytes: int


@dataclass(frozen=True)
class Mismatch:
    """One element that is wrong; `relative` and `ulp` are None where they mean nothing.

    `expected` is None where no reference says it.
    """

    index: tuple[int, ...]
    expected: float | int | bool | None
    got: float | int | bool
    absolute: float | None
    relative: float | None
    ulp: float | None


@dataclass(frozen=True)
class Comparison:
    """One output against its reference, or as the function `judged_by` found it.

    `worst` is the element furthest beyond its tolerance.
    """

    output: str
    elements: int
    mismatched: int
    rtol: float
    atol: float
    worst: Mismatch | None = None
    first: tuple[Mismatch, ...] = ()
    max_absolute: float = 0.0
    ulp: float = 0.0
    judged_by: str = ""

    @property
    def matches(self) -> bool:
        return self.mismatched == 0


class LatencyKind(StrEnum):
    """Measured on a GPU, or computed by the model of `sim`: the two are never compared."""

    MEASURED = "measured"
    MODELLED = "modelled"


class SamplingMode(StrEnum):
    """How samples were taken: `cold` flushes the L2 before each launch, `batch` times graphs of launches."""

    COLD = "cold"
    BATCH = "batch"


@dataclass(frozen=True)
class Sampling:
    """Times of one mode in ns; of `batch`, per launch.

    `launches` is how many lie between two events, `copies` over how many copies of the buffers they rotate,
    `floor_ns` what an empty kernel takes when measured the same way (None: not measured).
    """

    median_ns: float
    samples_ns: tuple[float, ...]
    launches: int = 1
    copies: int = 1
    floor_ns: float | None = None

    @property
    def relative_iqr(self) -> float:
        """The interquartile range over the median."""
        if len(self.samples_ns) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.samples_ns, n=4, method="inclusive")
        return (high - low) / self.median_ns


@dataclass(frozen=True)
class Captured:
    """Which timed launch's outputs were kept: the sample of that number, of `mode`."""

    mode: SamplingMode
    sample: int


@dataclass(frozen=True)
class Latency:
    """The latency of one case. Fields of the other kind are None or empty.

    Measured: `median_ns` is that of `mode`; the other mode stands beside it and is never mixed in.
    A clock of 0 is unknown. `notes` are sentences about what makes the number doubtful. `by_line` are there
    if they were asked for.
    """

    kind: LatencyKind
    median_ns: float
    mode: SamplingMode | None = None
    cold: Sampling | None = None
    batch: Sampling | None = None
    batch_refused: str | None = None
    warmup_launches: int | None = None
    tick_ns: float | None = None
    sm_clock_mhz: tuple[float, ...] = ()
    contents: int = 1
    captured: Captured | None = None
    notes: tuple[str, ...] = ()
    bound: str | None = None
    terms_ns: tuple[tuple[str, float], ...] = ()
    occupancy: Mapping[str, Any] | None = None
    counters: Mapping[str, Any] | None = None
    spread: float | None = None
    by_line: tuple[LineCounters, ...] = ()

    @property
    def sampling(self) -> Sampling | None:
        """What `median_ns` is the median of; None if modelled."""
        return self.batch if self.mode is SamplingMode.BATCH else self.cold

    @property
    def samples_ns(self) -> tuple[float, ...]:
        """The samples `median_ns` is the median of; empty if modelled."""
        return () if self.sampling is None else self.sampling.samples_ns


class CaseStatus(StrEnum):
    """How one case ended."""

    PASSED = "passed"
    WRONG = "wrong"
    FAULT = "fault"
    FINDING = "finding"
    LOST = "lost"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Tried:
    """How often a property was put to the test by a stage, and how it went.

    `discarded` counts trials that bind nobody, since the starting kernel fails them too or the reference or
    the launch rule is not for them; `why` is the first reason. With neither there is no trial of the property
    for the kernel, and `why` says why.
    """

    stage: Stage
    property: Property
    judged: int = 0
    discarded: int = 0
    why: str = ""


@dataclass(frozen=True)
class CaseOutcome:
    """What happened at one case.

    `findings` are what failed it, the most severe first; `sanitized` is there if the checks of `sim` were
    asked for. `latency` is there if the case was measured; `touched_bytes` are those a launch reads or
    writes, where they were counted; `counters` are those of the checked launch, where the device counts,
    and `printed` what its threads printed, where the device shows it. `note` says which launch the
    comparisons are of, if not of the first checked one; `lost` is the property that a LOST case disproves.
    `gated` has a verdict for each version that the case's latency was held against.
    """

    case: Case
    case_id: str
    status: CaseStatus
    launch: LaunchConfiguration | None = None
    comparisons: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    latency: Latency | None = None
    counters: Mapping[str, Any] | None = None
    printed: str = ""
    note: str = ""
    sanitized: Sanitized | None = None
    touched_bytes: int | None = None
    lost: Property | None = None
    gated: tuple[Gated, ...] = ()

    @property
    def finding(self) -> Finding | None:
        """The most severe finding."""
        return next(iter(self.findings), None)


@dataclass(frozen=True)
class Evaluation:
    """The judge's answer about one candidate.

    `device` is the harness's description of where it ran. `findings` are those that decided, if some
    did, the most severe first; `reason` is one sentence for a person. `resources` are those of each entry
    of the compiled module. `seconds` holds wall time by stage, `tried` what was put to the test beyond the
    declared cases, from `fuzz_seed` if anything was. `tripwires` are those the starting kernel has not.
    `reference_origin` says where the reference is from, if from nobody who knows what is right.
    `limits` are there if the kernel has some and they were judged.
    """

    kernel: str
    candidate: str
    device: str
    status: Status
    reason: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    resources: Mapping[str, Resources] = field(default_factory=dict)
    outcomes: tuple[CaseOutcome, ...] = ()
    findings: tuple[Finding, ...] = ()
    seconds: tuple[tuple[str, float], ...] = ()
    tried: tuple[Tried, ...] = ()
    fuzz_seed: int | None = None
    tripwires: tuple[Tripwire, ...] = ()
    reference_origin: str = ""
    limits: LimitsJudged | None = None

    @property
    def finding(self) -> Finding | None:
        """The most severe finding."""
        return next(iter(self.findings), None)

    @property
    def accepted(self) -> bool:
        return self.status is Status.ACCEPTED

    @property
    def printed(self) -> str:
        """What the kernel's threads printed at all checked cases."""
        return "".join(outcome.printed for outcome in self.outcomes)

    @property
    def latencies(self) -> dict[str, Latency]:
        """Latencies by case id."""
        return {o.case_id: o.latency for o in self.outcomes if o.latency is not None}

    @property
    def geometric_mean_ns(self) -> float | None:
        """The weighted geometric mean of the measured cases' medians; None if none was measured."""
        weighted = [(o.case.weight, o.latency.median_ns) for o in self.outcomes if o.latency]
        if not weighted:
            return None
        total = sum(weight for weight, _ in weighted)
        return math.exp(sum(weight * math.log(ns) for weight, ns in weighted) / total)

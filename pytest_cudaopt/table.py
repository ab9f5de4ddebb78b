"""The summary table: what each kernel's items found, as rows that travel in a test report.

Rows become a report's user properties (so they survive pytest-xdist and reach JUnit files) and come back
from them; `table_lines` lays them out. Nothing here prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.achieved import Achieved
from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.evaluation import Evaluation, Latency, LatencyKind, SamplingMode
from pytest_cudaopt.gated import Gated, GateVerdict, worst
from pytest_cudaopt.latency_text import format_bytes, format_latency

if TYPE_CHECKING:
    from pytest_cudaopt.device import Device

_PREFIX = "cudaopt."
# The status of an item that no budget was left for.
NOT_RUN = "not run"
# Statuses of items that were skipped: nobody's fault.
_UNDECIDED = frozenset({"unsupported", "not measured", "not started", "not judged", "not timed", NOT_RUN})
Properties = Sequence[tuple[str, Any]]


class RowStage(StrEnum):
    """What an item does; the first part of its id."""

    CHECK = "check"
    FUZZ = "fuzz"
    CONTRACT = "contract"
    SANITIZE = "sanitize"
    LIMITS = "limits"
    LATENCY = "latency"
    OPTIMIZE = "optimize"


class Mood(StrEnum):
    """How a piece of text is meant, for whoever colours it."""

    PLAIN = "plain"
    TITLE = "title"
    GOOD = "good"
    BAD = "bad"
    WARNING = "warning"


_MOOD_OF_VERDICT = {"faster": Mood.GOOD, "slower": Mood.BAD, "unsure": Mood.WARNING}
Piece = tuple[str, Mood]
Line = tuple[Piece, ...]


@dataclass(frozen=True)
class Row:
    """What one item found; `position` is the case's place in the declaration.

    `device_note` says how `auto` chose the device, `device_warning` that it passed over a GPU. Times are
    medians, for OPTIMIZE geometric means. `latency_text` says all there is to say of a measured one; `doubts`
    are sentences about what makes it doubtful, `waived` about findings that are accepted, `rounding` about
    rounding errors, for whoever wants to see more. `touched_bytes` are those a launch reads or writes, where
    they were counted. `verdict` is the gate's word, such as "slower", and `gate` its sentence; empty for what
    was not gated. `baseline_note` says what became of a baseline. `best` names the winner of a run if it is
    not the start, `gains` lists its cases, `tokens` is what a model took, `notes` are sentences about the
    run.
    """

    kernel: str
    stage: RowStage
    position: int
    case: str
    status: str
    device: str = ""
    median_ns: float | None = None
    kind: LatencyKind | None = None
    bound: str | None = None
    mode: SamplingMode | None = None
    relative_iqr: float | None = None
    latency_text: str | None = None
    doubts: tuple[str, ...] = ()
    start_ns: float | None = None
    best: str | None = None
    gains: str | None = None
    attempts: int | None = None
    rejected: int | None = None
    tokens: int | None = None
    notes: tuple[str, ...] = ()
    folder: str | None = None
    note: str | None = None
    device_note: str = ""
    device_warning: str = ""
    waived: tuple[str, ...] = ()
    rounding: tuple[str, ...] = ()
    touched_bytes: int | None = None
    verdict: str = ""
    gate: str = ""
    baseline_note: str = ""

    def properties(self) -> list[tuple[str, str | int | float]]:
        """Return what is known as report properties; each doubt and waiver is one of its own."""
        found: list[tuple[str, str | int | float]] = []
        for field in fields(self):
            value = getattr(self, field.name)
            for one in value if isinstance(value, tuple) else (value,):
                if one not in (None, ""):
                    # StrEnum members are not plain strings to every serialiser.
                    found.append((_PREFIX + field.name, str(one) if isinstance(one, StrEnum) else one))
        return found

    def on(self, device: Device) -> Row:
        """Return the row with where it ran, and why there."""
        if device.missed_gpu:
            return replace(self, device=device.description, device_warning=device.note)
        # A GPU that `auto` chose is named by itself.
        note = "" if device.is_gpu else device.note
        return replace(self, device=device.description, device_note=note)

    def with_latency(self, latency: Latency | None, done: Achieved | None = None) -> Row:
        """Return the row with a latency and what it achieves."""
        if latency is None:
            return self
        row = replace(self, median_ns=latency.median_ns, kind=latency.kind, bound=latency.bound)
        if latency.mode is not None:
            row = replace(
                row,
                mode=latency.mode,
                relative_iqr=None if latency.sampling is None else latency.sampling.relative_iqr,
                latency_text=format_latency(latency, done),
            )
        return replace(row, doubts=tuple(dict.fromkeys(latency.notes)))

    def with_gated(self, gated: Sequence[Gated]) -> Row:
        """Return the row with the worst of these verdicts, if there is one."""
        found = worst(gated)
        return self if found is None else replace(self, verdict=str(found.verdict), gate=found.reason)

    @property
    def item(self) -> str:
        """The node id of the pytest item that found it."""
        parameters = self.stage if self.case == self.stage else f"{self.stage}-{self.case}"
        return f"{self.kernel}[{parameters}]"

    @property
    def latency(self) -> Latency | None:
        if self.median_ns is None or self.kind is None:
            return None
        return Latency(self.kind, self.median_ns, bound=self.bound)


def rows_from(many: Iterable[Properties]) -> list[Row]:
    """Return the rows among reports' properties, in an order that does not depend on who ran first."""
    rows: dict[tuple[str, int, str], Row] = {}
    for properties in many:
        ours = [(str(name).removeprefix(_PREFIX), value) for name, value in properties if _is_ours(name)]
        if ours:
            row = _row(ours)
            rows[row.kernel, row.position, row.stage] = row
    return [rows[key] for key in sorted(rows)]


def _row(properties: Properties) -> Row:
    found = dict(properties)
    read = {
        "stage": RowStage(found["stage"]),
        "kind": LatencyKind(found["kind"]) if "kind" in found else None,
        "mode": SamplingMode(found["mode"]) if "mode" in found else None,
        **{
            many: tuple(v for name, v in properties if name == many)
            for many in ("doubts", "waived", "rounding", "notes")
        },
    }
    return Row(**{**found, **read})


def rows_of(evaluation: Evaluation, done: Mapping[str, Achieved]) -> list[Row]:
    """Return a row per case of an evaluation of all stages, and one of limits if they were judged.

    `done` is what the cases achieve, by case id.
    """
    cases = [
        Row(
            evaluation.kernel,
            RowStage.CHECK,
            position,
            outcome.case_id,
            str(outcome.status),
            evaluation.device,
            waived=() if outcome.sanitized is None else tuple(map(str, outcome.sanitized.waived)),
            touched_bytes=outcome.touched_bytes,
        )
        .with_latency(outcome.latency, done.get(outcome.case_id))
        .with_gated(outcome.gated)
        for position, outcome in enumerate(evaluation.outcomes)
    ]
    if (judged := evaluation.limits) is None:
        return cases
    kernel, name, device = evaluation.kernel, RowStage.LIMITS.value, evaluation.device
    status = "limit" if judged.findings else "passed"
    waived = tuple(map(str, judged.waived))
    row = Row(kernel, RowStage.LIMITS, len(cases), name, status, device, note=judged.text, waived=waived)
    return [*cases, row]


def _is_ours(name: object) -> bool:
    return str(name).startswith(_PREFIX)


def table_title(rows: Iterable[Row]) -> str:
    """Name the table, and the device if all rows share one."""
    devices = {row.device for row in rows if row.device}
    return f"CUDA kernels on {devices.pop()}" if len(devices) == 1 else "CUDA kernels"


def device_lines(rows: Sequence[Row]) -> list[Line]:
    """Say once how `auto` chose each device, loudly where it passed over a GPU."""
    notes = dict.fromkeys(row.device_note for row in rows if row.device_note)
    warnings = dict.fromkeys(row.device_warning for row in rows if row.device_warning)
    return [
        *(((note, Mood.PLAIN),) for note in notes),
        *(((f"WARNING: {warning}", Mood.BAD),) for warning in warnings),
    ]


def table_lines(rows: Sequence[Row], *, verbose: bool = False) -> list[Line]:
    """Lay out one block per kernel, one line per case, in the order of the rows; rounding if `verbose`."""
    if not verbose:
        rows = [replace(row, rounding=()) for row in rows]
    lines: list[Line] = []
    devices = {row.device for row in rows if row.device}
    case_width = max((len(row.case) for row in rows), default=0)
    status_width = max((len(row.status) for row in rows), default=0)
    for kernel, group in groupby(rows, key=lambda row: row.kernel):
        own = list(group)
        where = f" on {own[0].device}" if len(devices) > 1 and own[0].device else ""
        lines.append(((kernel, Mood.TITLE), (where, Mood.PLAIN)))
        for _, same_case in groupby(own, key=lambda row: row.position):
            merged = list(same_case)
            lines += _case_lines(merged, case_width, status_width)
    return [*lines, *_doubt_lines(rows)]


def _doubt_lines(rows: Iterable[Row]) -> list[Line]:
    """Say every doubt once, with the cases it is about."""
    cases: dict[str, list[str]] = {}
    for row in rows:
        for doubt in row.doubts:
            about = f"{row.kernel.rpartition('::')[2]} {row.case}"
            if about not in cases.setdefault(doubt, []):
                cases[doubt].append(about)
    return [((f"warning: {doubt} ({', '.join(about)})", Mood.WARNING),) for doubt, about in cases.items()]


def _case_lines(rows: Sequence[Row], case_width: int, status_width: int) -> list[Line]:
    # The worse status of check and latency is the one to see.
    shown = next((row for row in rows if row.status != "passed"), rows[0])
    found = next((texts for row in rows if (texts := latency_texts(row))), [])
    if found and any(row.verdict == GateVerdict.SAME for row in rows):
        found = [f"{found[0]}, same as before", *found[1:]]
    pieces = [(text, Mood.PLAIN) for text in found]
    gated = [row for row in rows if row.verdict and row.verdict != GateVerdict.SAME]
    pieces += [(_gate_text(row), mood_of_verdict(row.verdict)) for row in gated]
    pieces += [(row.baseline_note, Mood.PLAIN) for row in rows if row.baseline_note]
    pieces += [(text, Mood.PLAIN) for row in rows for text in (*row.waived, *row.rounding)]
    first: Line = (
        (f"  {shown.case:<{case_width}}  ", Mood.PLAIN),
        (f"{shown.status:<{status_width}}" if pieces else shown.status, mood_of(shown.status)),
    )
    if pieces:
        text, mood = pieces[0]
        first = (*first, (f"  {text}", mood))
    indent = " " * (2 + case_width + 2 + status_width + 2)
    return [first, *(((indent + text, mood),) for text, mood in pieces[1:])]


def _gate_text(row: Row) -> str:
    return f"{row.verdict}: {row.gate}" if row.gate else row.verdict


def mood_of_verdict(verdict: str) -> Mood:
    """Return how the gate's word is meant."""
    return _MOOD_OF_VERDICT.get(verdict, Mood.PLAIN)


def mood_of(status: str) -> Mood:
    """Return how a row's status is meant."""
    if status == "passed":
        return Mood.GOOD
    return Mood.WARNING if status in _UNDECIDED else Mood.BAD


def latency_texts(row: Row) -> list[str]:
    """Return what there is to say of a row beside its status, most important first."""
    if row.stage is RowStage.OPTIMIZE:
        return _optimize_texts(row)
    if row.stage in (RowStage.FUZZ, RowStage.CONTRACT, RowStage.SANITIZE, RowStage.LIMITS):
        return [row.note] if row.note is not None else []
    if row.latency_text is not None:
        return [row.latency_text]
    if row.latency is None:
        return []
    touched = "" if row.touched_bytes is None else f", touches {format_bytes(row.touched_bytes)}"
    return [format_latency(row.latency) + touched]


def _optimize_texts(row: Row) -> list[str]:
    """Say what a run gained, where its records are, and what became of the source file."""
    texts: list[str] = []
    tried = f" in {row.attempts} attempts" if row.attempts is not None else ""
    tried += f", of which {row.rejected} not accepted" if row.rejected else ""
    if row.latency is not None and row.start_ns is not None:
        if row.best is None:
            texts.append(f"{format_latency(row.latency)}, nothing faster found{tried}")
        else:
            speedup = row.start_ns / row.latency.median_ns
            mean = " (geometric mean)" if row.gains else ""
            times = f"{format_duration(row.start_ns)} -> {format_latency(row.latency)}"
            texts.append(f"{times}, {speedup:.2f}x{mean} with {row.best}{tried}")
    folder = f"{row.folder}, {row.tokens} tokens" if row.folder and row.tokens else row.folder
    return [*texts, *(text for text in (row.gains, *row.notes, folder, row.note) if text is not None)]

"""What a run leaves for people beside its history: summary, certificate and heatmap."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt import plots
from pytest_cudaopt.certificate import certificate_of
from pytest_cudaopt.optimize import comparing

if TYPE_CHECKING:
    from pytest_cudaopt.evaluation import Evaluation
    from pytest_cudaopt.optimize.attempt import Attempt
    from pytest_cudaopt.optimize.run import Run
    from pytest_cudaopt.optimize.summary import RunSummary

# Nobody reads a picture of hundreds of rows, and drawing one takes a minute.
_MOST_ROWS = 60


def write(run: Run, summary: RunSummary) -> None:
    """Write `history.json`, `summary.json`, the best one's certificate and, of times, the heatmap."""
    run.cases_to_declare = run.folder.write_history_array()
    summary = replace(summary, cases_to_declare=run.cases_to_declare)
    run.folder.write_json("summary.json", summary.to_json())
    if summary.best is not None:
        run.folder.write_json("certificate.json", certificate_of(summary.best.evaluation).to_json())
    if summary.start_ns is not None:
        drawn = plots.draw_heatmap(heatmap(summary))
        run.folder.write("heatmap.png", drawn.png)
        run.folder.write("heatmap.svg", drawn.svg)


def heatmap(summary: RunSummary) -> plots.Heatmap:
    """Lay out attempts by measured cases, each latency relative to the start's."""
    assert summary.start is not None  # noqa: S101 - callers draw measured runs only
    start = summary.start.evaluation
    case_ids = tuple(start.latencies)
    has_total = len(case_ids) > 1
    return plots.Heatmap(
        title=_title(summary),
        quantity=f"{summary.latency_kind} latency relative to the start",
        columns=(*case_ids, "geometric mean") if has_total else case_ids,
        rows=tuple(_row(attempt, start, summary, has_total) for attempt in _shown(summary)),
        last_is_total=has_total,
    )


def _shown(summary: RunSummary) -> list[Attempt]:
    """Return all attempts, or of very many those that were kept, and the latest."""
    start, *tried = summary.attempts
    kept = [one for one in tried if one.verdict.decision.is_kept][-_MOST_ROWS // 2 :]
    numbers = {one.number for one in kept}
    latest = [one for one in tried if one.number not in numbers][-(_MOST_ROWS - 1 - len(kept)) :]
    return [start, *sorted([*kept, *latest], key=lambda one: one.number)]


def _title(summary: RunSummary) -> str:
    result = f"best {summary.speedup:.2f}x faster than the start" if summary.improved else "the start is best"
    tried = len(summary.attempts)
    shown = f"; {_MOST_ROWS} of {tried} attempts" if tried > _MOST_ROWS else ""
    return f"{summary.kernel} on {summary.device}: {result}{shown}"


def _row(attempt: Attempt, start: Evaluation, summary: RunSummary, has_total: bool) -> plots.HeatmapRow:
    values = [_relative(attempt.evaluation, start, case_id) for case_id in start.latencies]
    if has_total:
        values.append(None if attempt.speedup is None else 1 / attempt.speedup)
    return plots.HeatmapRow(
        label=f"{attempt.number:2d}  {attempt.label}",
        values=tuple(values),
        is_best=summary.best is not None and attempt.number == summary.best.number,
        failure=None if attempt.evaluation.accepted else attempt.evaluation.status.value,
    )


def _relative(one: Evaluation, start: Evaluation, case_id: str) -> float | None:
    pair = comparing.case_ns(one, start).get(case_id)
    return None if pair is None else pair[0] / pair[1]

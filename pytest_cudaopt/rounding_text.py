"""Rounding errors as lines: how large both parts of an output's error are, and where most digits are lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytest_cudaopt.rounding_error import ErrorSplit, RoundingLoss
from pytest_cudaopt.sanitized import Sanitized


def rounding_lines(sanitized: Sequence[Sanitized]) -> tuple[str, ...]:
    """Return a line for each output, with the largest errors over all cases, and one for the worst line."""
    by_output: dict[str, list[ErrorSplit]] = {}
    for found in sanitized:
        for split in found.errors:
            by_output.setdefault(split.output, []).append(split)
    lines = [_output_line(output, splits) for output, splits in by_output.items()]
    losses = [found.loss for found in sanitized if found.loss is not None]
    worst = max(losses, key=lambda loss: loss.mean_growth, default=None)
    return (*lines, *([] if worst is None else [_loss_line(worst)]))


def _output_line(output: str, splits: Iterable[ErrorSplit]) -> str:
    listed = list(splits)
    rounding = max(split.relative_rounding for split in listed)
    logic = max(split.relative_logic for split in listed)
    undecided = sum(split.undecided for split in listed)
    exempt = f"; {undecided} elements undecided" if undecided else ""
    return f"{output}: rounding error {rounding:.2g}, logic error {logic:.2g} of its largest value{exempt}"


def _loss_line(loss: RoundingLoss) -> str:
    at = "" if loss.file is None or loss.line is None else f" at {loss.file}:{loss.line}"
    return f"most digits are lost{at}: {loss.value:.9g} where float64 has {loss.shadow:.9g}"

"""What a model is reminded of: all attempts in a few lines, however many there were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytest_cudaopt.optimize.attempt import Decision

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.attempt import Attempt

_SHOWN_ATTEMPTS = 12
_SENTENCE = 160
_SHOWN_LOOKS = 10
_LOOK = 240


def summary(attempts: Sequence[Attempt]) -> str:
    """Return a line for each of the attempts worth remembering, and how the others ended in numbers.

    Worth remembering are those that were kept, and the latest ones.
    """
    tried = attempts[1:]
    if not tried:
        return "Nothing was tried yet."
    kept = [one for one in tried if one.verdict.decision.is_kept][-_SHOWN_ATTEMPTS // 2 :]
    latest = tried[-(_SHOWN_ATTEMPTS - len(kept)) :]
    shown = sorted({one.number: one for one in (*kept, *latest)}.values(), key=lambda one: one.number)
    lines = [_line(one) for one in shown]
    numbers = {one.number for one in shown}
    left_out = [one for one in tried if one.number not in numbers]
    if left_out:
        lines.insert(0, f"{len(left_out)} more: {_counts(left_out)}")
    return "\n".join(lines)


def looked(attempts: Sequence[Attempt]) -> str:
    """Return a line for each of the last uses of tools, the latest last; empty if there was none."""
    lines = [f"before {one.number}: {line}" for one in attempts for line in one.proposal.looked]
    return "\n".join(_short(line, _LOOK) for line in lines[-_SHOWN_LOOKS:])


def _line(attempt: Attempt) -> str:
    speed = "" if attempt.speedup is None else f" {attempt.speedup:.2f}x the start's speed;"
    tunables = " ".join(f"{name}={value}" for name, value in attempt.tunables.items())
    chosen = f" with {tunables};" if tunables else ""
    decision, why = attempt.verdict.decision.value, _short(attempt.proposal.why)
    return f"{attempt.number}. {decision};{speed}{chosen} {why} -> {_short(attempt.verdict.reason)}"


def _counts(attempts: Sequence[Attempt]) -> str:
    numbers = Counter(one.verdict.decision for one in attempts)
    return ", ".join(f"{numbers[one]} {one.value}" for one in Decision if numbers[one])


def _short(sentence: str, most: int = _SENTENCE) -> str:
    one_line = " ".join(sentence.split())
    return one_line if len(one_line) <= most else f"{one_line[: most - 3]}..."

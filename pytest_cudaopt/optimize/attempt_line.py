"""The line a terminal shows of an attempt while the run goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.attempt import Attempt

_MOST_COLUMNS = 110


def text(item: str, attempt: Attempt, most: int) -> str:
    """Return what came of the attempt, of `most`; of a model's also tokens and what fits of its idea."""
    speedup = "" if attempt.speedup is None else f" {attempt.speedup:.2f}x"
    decision = attempt.verdict.decision.replace("_", " ")
    line = f"{item} attempt {attempt.number}/{most} {attempt.label}:{speedup} {decision}"
    tokens = attempt.proposal.usage.total
    line += f", {tokens} tokens" if tokens else ""
    idea = " ".join((attempt.proposal.why if attempt.proposal.answer else "").split())
    left = _MOST_COLUMNS - len(line) - len(": ")
    if not idea or left < len(idea[:12]):
        return line
    return f"{line}: {idea if len(idea) <= left else f'{idea[: left - 3]}...'}"

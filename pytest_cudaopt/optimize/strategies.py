"""A model asked again and again, or once: what a run of each strategy came to, side by side. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from pytest_cudaopt.errors import SettingsError

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.conversation import Model
    from pytest_cudaopt.optimize.options import OptimizeOptions


class Strategy(StrEnum):
    """How a model is asked: with tools and what came of every attempt, or one question and nothing else."""

    LOOP = "loop"
    SINGLE = "single"

    @property
    def other(self) -> Strategy:
        return Strategy.SINGLE if self is Strategy.LOOP else Strategy.LOOP

    @property
    def called(self) -> str:
        return "loop" if self is Strategy.LOOP else "single prompt"


@dataclass(frozen=True)
class Outcome:
    """What a run came to: `attempts` without its start, `speedup` over it; `run` names its folder."""

    strategy: Strategy
    run: str
    speedup: float
    attempts: int

    @property
    def text(self) -> str:
        tried = f" in {self.attempts} attempts" if self.strategy is Strategy.LOOP else ""
        return f"{self.strategy.called}: {self.speedup:.2f}x{tried} ({self.run})"


def beside(*outcomes: Outcome) -> str:
    """Return one line that states each, the loop first."""
    return "; ".join(one.text for one in sorted(outcomes, key=lambda one: one.strategy))


def require_possible(options: OptimizeOptions, model: Model | None) -> None:
    """Raise SettingsError where a single question is asked for, and something else beside it."""
    if options.strategy is Strategy.LOOP:
        return
    if model is None:
        raise _impossible(
            "a language model to ask",
            "the offline tuner, which asks nobody",
            "Name a model with --optimize-model, or leave --optimize-strategy out",
        )
    if options.limits.iterations != 1:
        raise _impossible(
            "one attempt, since one question is asked",
            f"--optimize-max-iterations {options.limits.iterations}",
            "Leave --optimize-max-iterations out or make it 1, or use --optimize-strategy loop",
        )
    if options.search.round_size != 1:
        raise _impossible(
            "--optimize-search greedy, since one question is asked",
            f"one that asks for {options.search.round_size} versions at once",
            "Leave --optimize-search out, or use --optimize-strategy loop",
        )


def _impossible(expected: str, got: str, next_step: str) -> SettingsError:
    return SettingsError("--optimize-strategy single", expected=expected, got=got, next_step=next_step)

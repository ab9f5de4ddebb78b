"""What a user may choose about a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import SANITIZE_ELEMENTS
from pytest_cudaopt.optimize import going_on, user_documents
from pytest_cudaopt.optimize.limits import Limits, next_time
from pytest_cudaopt.optimize.search import Search
from pytest_cudaopt.optimize.strategies import Strategy
from pytest_cudaopt.plans import secret_seed

if TYPE_CHECKING:
    from pytest_cudaopt.settings import Settings


# Where nobody says how many.
_ITERATIONS = {Strategy.LOOP: 7, Strategy.SINGLE: 1}


@dataclass(frozen=True)
class OptimizeOptions:
    """One run's options. `max_iterations` counts proposals, not the start.

    `search` and `bounds` say how wide a run looks and when it has had enough; None stands for the iterations
    alone. `strategy` is how a model is asked, `effort` how long it may think. `record` is a file that gets
    every proposal of a model, `docs` a folder of documents to look things up in, `going_on_from` the folder
    of a run that is to go on.
    `allow_slower` is how much slower a measured case may get: 0.02 is 2 %. `timeout_s` bounds a request.
    `warmup`, `samples` and `relative_error` say how a case is measured, as in a Plan. Cases of at most
    `sanitize_elements` are sanitized, none if it is 0. An attempt that would be kept is held against the
    start at cases drawn from `fuzz_seed`, unless `fuzz_examples` is 0.
    """

    max_iterations: int = _ITERATIONS[Strategy.LOOP]
    model: str = "offline"
    seed: int = 0
    allow_slower: float = 0.02
    timeout_s: float = 120.0
    warmup: int = 10
    samples: int = 100
    relative_error: float = 0.0
    accept: bool = False
    accept_modelled: bool = False
    sanitize_elements: int = SANITIZE_ELEMENTS
    fuzz_examples: int = 10
    fuzz_seed: int = 0
    strategy: Strategy = Strategy.LOOP
    effort: str = "medium"
    search: Search = field(default_factory=Search)
    bounds: Limits | None = None
    record: Path | None = None
    docs: Path | None = None
    going_on_from: Path | None = None

    @property
    def limits(self) -> Limits:
        return self.bounds or Limits(self.max_iterations)


def options_of(settings: Settings, root: Path) -> OptimizeOptions:
    """Return what the settings say about a run; files are relative to `root`."""
    now = datetime.now().astimezone()
    strategy = Strategy(settings.strategy)
    iterations = settings.max_iterations or _ITERATIONS[strategy]
    return OptimizeOptions(
        max_iterations=iterations,
        model=settings.model,
        seed=settings.seed,
        allow_slower=settings.allow_slower,
        timeout_s=settings.timeout_s,
        warmup=settings.warmup,
        samples=settings.samples,
        relative_error=settings.relative_error,
        accept=settings.accept,
        accept_modelled=settings.accept_modelled,
        sanitize_elements=settings.sanitize_elements,
        fuzz_examples=settings.fuzz_examples,
        fuzz_seed=secret_seed() if settings.fuzz_seed is None else settings.fuzz_seed,
        strategy=strategy,
        effort=settings.effort,
        search=Search(*settings.search),
        bounds=Limits(
            iterations,
            settings.max_tokens,
            settings.max_seconds,
            next_time(settings.until, now) if settings.until else None,
            settings.patience,
            settings.floor_share or None,
        ),
        record=root / settings.record if settings.record else None,
        docs=user_documents.find_folder(settings.docs, root) if settings.docs else None,
        going_on_from=going_on.find(settings.going_on_from, root, root / settings.results)
        if settings.going_on_from
        else None,
    )

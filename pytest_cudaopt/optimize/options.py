"""What a user may choose about a run."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_cudaopt.evaluation import SANITIZE_ELEMENTS


@dataclass(frozen=True)
class OptimizeOptions:
    """One run's options. `max_iterations` counts proposals, not the start.

    `allow_slower` is how much slower a measured case may get: 0.02 is 2 %. `timeout_s` bounds a request.
    `warmup`, `samples` and `relative_error` say how a case is measured, as in a Plan. Cases of at most
    `sanitize_elements` are sanitized, none if it is 0.
    """

    max_iterations: int = 7
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

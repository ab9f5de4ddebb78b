"""How much a candidate may take: bounded by what the start took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_cudaopt.evaluation import Budget, Evaluation, Stage

if TYPE_CHECKING:
    from pytest_cudaopt.optimize.run import Run

# A candidate may take this many times the start's instructions before it counts as hung.
_BUDGET_FACTOR = 50
_LEAST_BUDGET = 10_000_000
# A GPU counts no instructions: there it may take this many times as long as the start.
_TIMEOUT_FACTOR = 20
_LEAST_TIMEOUT_S = 10.0


def of(run: Run) -> Budget:
    """Bound a candidate by the start, which has no bound: by its instructions on `sim`, else by its time."""
    most_s = run.options.timeout_s
    start = run.start_evaluation
    if start is None:
        return Budget(timeout_s=most_s)
    if run.device.is_gpu:
        return Budget(timeout_s=most_s, launch_timeout_s=launch_timeout_s(start, most_s))
    most = _most_block_instructions(start)
    instructions = None if most is None else max(_LEAST_BUDGET, _BUDGET_FACTOR * most)
    return Budget(timeout_s=most_s, block_instructions=instructions)


def launch_timeout_s(start: Evaluation, most_s: float) -> float:
    """Return how long a request may launch: a multiple of the start's slowest stage, at most `most_s`.

    Compiling does not count, since the start's product may have come from the cache.
    """
    launching = (seconds for stage, seconds in start.seconds if stage != Stage.COMPILE)
    return min(most_s, max(_LEAST_TIMEOUT_S, _TIMEOUT_FACTOR * max(launching, default=0.0)))


def _most_block_instructions(start: Evaluation) -> int | None:
    counted = [outcome.counters for outcome in start.outcomes if outcome.counters is not None]
    counted += [latency.counters for latency in start.latencies.values() if latency.counters is not None]
    return max((int(one["max_block_instructions"]) for one in counted), default=None)

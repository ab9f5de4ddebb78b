"""The steps of a run, one function each: from the state to what changes in it."""

from __future__ import annotations

import math
from contextlib import suppress

from langgraph.runtime import Runtime

from pytest_cudaopt.errors import DeclarationError, ReferenceUnsupported
from pytest_cudaopt.evaluation import Budget, Evaluation, Plan, Stage
from pytest_cudaopt.optimize import closing, comparing, describe, evidence, ranking
from pytest_cudaopt.optimize.accept import AcceptPolicy, accept
from pytest_cudaopt.optimize.attempt import Attempt, Proposal, Verdict
from pytest_cudaopt.optimize.run import Run
from pytest_cudaopt.optimize.state import RunState
from pytest_cudaopt.optimize.summary import StopReason
from pytest_cudaopt.prepare import prepare

# A candidate may take this many times the start's instructions before it counts as hung.
_BUDGET_FACTOR = 50
_LEAST_BUDGET = 10_000_000
# A GPU counts no instructions: there it may take this many times as long as the start.
_TIMEOUT_FACTOR = 20
_LEAST_TIMEOUT_S = 10.0


def load(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Write down what the run starts from; the kernel as it is becomes attempt 0."""
    run = runtime.context
    configuration = describe.configuration(run.kernel, run.device, run.options)
    run.folder.write_start(run.kernel, run.start, configuration)
    run.folder.write("graph.mmd", run.diagram)
    _register(run, Proposal(run.start, "the kernel as it is"))
    return {"attempt": 0, "best": 0}


def reference(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Run the reference on the smallest case, so that a faulty one is found before the kernel is compiled."""
    kernel = runtime.context.kernel
    smallest = min(kernel.cases, key=lambda case: math.prod(case.by_name.values()))
    # Where the device cannot execute it, the judge says so of every candidate.
    with suppress(ReferenceUnsupported):
        _ = prepare(kernel, smallest, runtime.context.device).expected
    return {}


def evaluate(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Have the attempt judged on every declared case."""
    run = runtime.context
    proposal = run.proposals[state["attempt"]]
    sanitizes = run.options.sanitize_elements > 0
    plan = Plan(
        stages=(Stage.COMPILE, Stage.CHECK, *([Stage.SANITIZE] if sanitizes else []), Stage.MEASURE),
        cases=run.kernel.cases,
        seed=run.options.seed,
        budget=budget(run),
        warmup=run.options.warmup,
        samples=run.options.samples,
        relative_error=run.options.relative_error,
        sanitize_elements=run.options.sanitize_elements,
        # What the start does at every case is worth knowing; a candidate needs one failure to be out.
        stop_at_first=state["attempt"] > 0,
    )
    run.evaluations.append(run.judge(run.kernel, proposal.candidate, plan, run.device))
    return {}


def decide(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Compare the attempt with the incumbent, record it, and keep the better one."""
    run, number = runtime.context, state["attempt"]
    if number == 0:
        _require_latency(run)
    verdict = _verdict(run, number, state["best"])
    best = number if verdict.decision.is_kept else state["best"]
    attempt = Attempt(number, run.proposals[number], run.evaluations[number], verdict, _speedup(run, number))
    # The history first: whatever goes wrong with the evidence, a judged attempt is not lost.
    run.folder.write_attempt(attempt, best)
    run.attempts.append(attempt)
    evidence.write(run, attempt, budget(run))
    run.progress(attempt)
    if number == 0 and not verdict.decision.is_kept:
        return {"stopped_because": StopReason.START_REJECTED, "stopped_detail": verdict.reason}
    return {"best": best}


def propose(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Ask the proposer for the next candidate, unless the run has had its iterations."""
    run = runtime.context
    number = state["attempt"] + 1
    if number > run.options.max_iterations:
        return {
            "stopped_because": StopReason.ITERATIONS_USED,
            "stopped_detail": f"limit of {run.options.max_iterations} iterations reached",
        }
    proposal = run.proposer.propose(run.attempts)
    if proposal is None:
        return {
            "stopped_because": StopReason.NOTHING_LEFT,
            "stopped_detail": run.proposer.exhausted_reason,
        }
    _register(run, proposal)
    return {"attempt": number}


def finish(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Write what a reader of the folder looks for, and the winner back to its source if asked to."""
    run = runtime.context
    summary = run.summary(state["stopped_because"], state["stopped_detail"])
    if summary.best is not None:
        evidence.write_replays(run, summary.best, budget(run))
        winner = summary.best.candidate if summary.improved else None
        policy = AcceptPolicy(run.options.accept, run.options.accept_modelled)
        run.acceptance = accept(
            run.kernel.source,
            run.start.source,
            winner,
            summary.latency_kind,
            policy,
            run.kernel.region_names,
        )
    closing.write(run, run.summary(state["stopped_because"], state["stopped_detail"]))
    return {}


def is_stopped(state: RunState) -> bool:
    return "stopped_because" in state


def budget(run: Run) -> Budget:
    """Bound a candidate by the start, which has no bound: by its instructions on `sim`, else by its time."""
    most_s = run.options.timeout_s
    if not run.evaluations:
        return Budget(timeout_s=most_s)
    start = run.evaluations[0]
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


def _register(run: Run, proposal: Proposal) -> None:
    run.folder.write_proposal(len(run.proposals), proposal)
    run.proposals.append(proposal)


def _require_latency(run: Run) -> None:
    start = run.evaluations[0]
    if start.accepted and start.geometric_mean_ns is None:
        raise DeclarationError(
            f"kernel '{run.kernel.name}'",
            expected="a latency at one measured case or more",
            got="none, since its launch rule starts no blocks there",
            next_step="Give a case with measure=True larger sizes",
            at=run.kernel.location,
        )


def _verdict(run: Run, number: int, best: int) -> Verdict:
    start = run.evaluations[0]
    if number == 0:
        return ranking.judge_start(start)
    return ranking.judge_challenger(
        run.evaluations[number],
        run.evaluations[best],
        start,
        allow_slower=run.options.allow_slower,
    )


def _speedup(run: Run, number: int) -> float | None:
    means = comparing.mean_ns(run.evaluations[0], run.evaluations[number])
    return None if means is None else means[0] / means[1]

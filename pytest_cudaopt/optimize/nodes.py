"""The steps of a run, one function each: from the state to what changes in it.

Those of a single proposal are in `branch_nodes.py`.
"""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from pytest_cudaopt.errors import DeclarationError, ReferenceUnsupported
from pytest_cudaopt.optimize import (
    closing,
    comparing,
    describe,
    evidence,
    judging,
    limits,
    other_strategy,
    ranking,
    replay_model,
    run_budget,
    search,
)
from pytest_cudaopt.optimize.accept import AcceptPolicy, accept
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal
from pytest_cudaopt.optimize.floor import floor_by_case, mean_share
from pytest_cudaopt.optimize.run import Pending, Run
from pytest_cudaopt.optimize.state import BranchState, RunState
from pytest_cudaopt.optimize.summary import StopReason
from pytest_cudaopt.peaks import known_peaks
from pytest_cudaopt.prepare import prepare

# After so many questions in a row without a usable answer, there will be none.
_MOST_SILENCES = 5


def load(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Write down what the run starts from; the kernel as it is becomes attempt 0, unless it is known."""
    run = runtime.context
    if run.attempts:
        return _load_earlier(run)
    run.folder.write_start(run.kernel, run.start, describe.configuration(run))
    run.folder.write("graph.mmd", run.diagram)
    proposal = Proposal(run.start, "the kernel as it is")
    run.folder.write_proposal(0, proposal, run.start)
    run.pending[0] = Pending(proposal)
    return {"best": 0}


def reference(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Run the reference on the smallest case, so that a faulty one is found before the kernel is compiled."""
    kernel = runtime.context.kernel
    smallest = min(kernel.cases, key=lambda case: math.prod(case.by_name.values()))
    # Where the device cannot execute it, the judge says so of every candidate.
    with suppress(ReferenceUnsupported):
        _ = prepare(kernel, smallest, runtime.context.device).expected
    return {}


def evaluate(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Have the start judged; where an earlier run goes on, what its latencies are worth today."""
    run = runtime.context
    if not run.attempts:
        judging.judge(run, 0)
    elif not is_stopped(state):
        judging.judge_anew(run, state["best"])
    return {}


def decide(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Compare each judged proposal with the incumbent, record it, and keep the better one."""
    run, best = runtime.context, state["best"]
    for number in sorted(run.pending):
        if number == 0:
            _require_latency(run)
        best = _decide(run, number, best)
    if len(run.attempts) == 1 and not run.attempts[0].verdict.decision.is_kept:
        return _start_rejected(run)
    return {"best": best}


def onward(state: RunState, runtime: Runtime[Run]) -> str:
    """Begin the next round, or finish."""
    return "finish" if is_stopped(state) else "plan"


def plan_round(state: RunState, runtime: Runtime[Run]) -> Command[Literal["branch", "finish"]]:
    """Decide which attempts the next proposals vary, unless the run has had enough."""
    run = runtime.context
    if (stopped := _enough(run, state["best"])) is not None:
        because, detail = stopped
        return Command(goto="finish", update={"stopped_because": because, "stopped_detail": detail})
    first = len(run.attempts)
    left = run.options.limits.iterations - (first - 1)
    branches: list[Send] = []
    for parent in search.parents(run.options.search, run.attempts, state["best"], left):
        number = first + len(branches)
        dialogue = run.proposer.begin(run, run.whole(parent), number)
        if dialogue is None:
            break
        run.dialogues[number] = dialogue
        branches.append(Send("branch", BranchState(number=number, parent=parent)))
    if not branches:
        update = {
            "stopped_because": StopReason.NOTHING_LEFT,
            "stopped_detail": run.proposer.exhausted_reason,
        }
        return Command(goto="finish", update=update)
    return Command(goto=branches)


def gather(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Go on once every proposal of the round was judged."""
    runtime.context.dialogues.clear()
    return {}


def finish(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Write what a reader of the folder looks for, and the winner back to its source if asked to."""
    run = runtime.context
    summary = run.summary(state["stopped_because"], state["stopped_detail"])
    if summary.best is not None:
        evidence.write_replays(run, summary.best, run_budget.of(run))
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
        run.other = other_strategy.find(run)
    closing.write(run, run.summary(state["stopped_because"], state["stopped_detail"]))
    return {}


def is_stopped(state: RunState) -> bool:
    return "stopped_because" in state


def _load_earlier(run: Run) -> RunState:
    """Write down that the run goes on, and what was cut short."""
    run.folder.write_continued(describe.configuration(run))
    last = run.attempts[-1]
    if not run.folder.has_log(last.number):
        evidence.write(run, last, run_budget.of(run))
    best = next((one for one in reversed(run.attempts) if one.verdict.decision.is_kept), None)
    if best is None:
        return {"best": 0, **_start_rejected(run)}
    run.folder.write_best(best.candidate)
    return {"best": best.number}


def _start_rejected(run: Run) -> RunState:
    reason = run.attempts[0].verdict.reason
    return {"stopped_because": StopReason.START_REJECTED, "stopped_detail": reason}


def _decide(run: Run, number: int, best: int) -> int:
    """Record attempt `number`, and return which one is the incumbent after it."""
    pending = run.pending.pop(number)
    evaluation = pending.evaluation
    assert evaluation is not None  # noqa: S101 - branches end with one
    start = run.attempts[0].evaluation if run.attempts else evaluation
    if number == 0:
        verdict = ranking.judge_start(evaluation)
    else:
        incumbent, candidate = run.attempts[best], pending.proposal.candidate
        if candidate is not None:
            evaluation = judging.beside(run, number, candidate, evaluation, incumbent)
        allowed = run.options.allow_slower
        verdict = ranking.judge_challenger(
            evaluation, incumbent.evaluation, start, allow_slower=allowed, incumbent_number=best
        )
    means = comparing.mean_ns(start, evaluation)
    speedup = None if means is None else means[0] / means[1]
    attempt = Attempt(number, pending.proposal, evaluation, verdict, speedup)
    best = number if verdict.decision.is_kept else best
    # The history first: whatever goes wrong with the evidence, a judged attempt is not lost.
    run.folder.write_attempt(attempt, best, run.elapsed_s)
    run.usage += pending.proposal.usage
    if run.options.record is not None and pending.proposal.answer:
        replay_model.record(run.options.record, pending.proposal.answer)
    run.remember(attempt, best)
    evidence.write(run, attempt, run_budget.of(run))
    run.progress(attempt)
    return best


def _enough(run: Run, best: int) -> tuple[StopReason, str] | None:
    # Whoever has a run go on may have mended what kept the model silent.
    asked = [one.verdict.decision is Decision.NO_PROPOSAL for one in run.attempts[max(1, run.earlier) :]]
    if len(asked) >= _MOST_SILENCES and all(asked[-_MOST_SILENCES:]):
        return (
            StopReason.MODEL_FAILED,
            f"no proposal {_MOST_SILENCES} times in a row: {run.attempts[-1].verdict.reason}",
        )
    share = None
    if run.options.limits.floor_share is not None:
        incumbent = run.attempts[best].evaluation
        share = mean_share(floor_by_case(run.kernel, incumbent, known_peaks(run.device)))
    return limits.stop(run.options.limits, run.attempts, run.spent, share)


def _require_latency(run: Run) -> None:
    start = run.start_evaluation
    if start is not None and start.accepted and start.geometric_mean_ns is None:
        raise DeclarationError(
            f"kernel '{run.kernel.name}'",
            expected="a latency at one measured case or more",
            got="none, since its launch rule starts no blocks there",
            next_step="Give a case with measure=True larger sizes",
            at=run.kernel.location,
        )

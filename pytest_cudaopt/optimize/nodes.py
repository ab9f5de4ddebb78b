"""The steps of a run, one function each: from the state to what changes in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Literal

from langgraph.runtime import Runtime
from langgraph.types import Command, Send

from pytest_cudaopt.cases import Case
from pytest_cudaopt.errors import DeclarationError, EnvironmentFault, ReferenceUnsupported
from pytest_cudaopt.evaluation import Evaluation, Plan, Stage, Status
from pytest_cudaopt.optimize import (
    closing,
    comparing,
    describe,
    evidence,
    interruption,
    limits,
    ranking,
    replay_model,
    run_budget,
    search,
    tuning,
)
from pytest_cudaopt.optimize.accept import AcceptPolicy, accept
from pytest_cudaopt.optimize.attempt import Attempt, Decision, Proposal, Verdict
from pytest_cudaopt.optimize.conversation import ModelFailure
from pytest_cudaopt.optimize.floor import floor_by_case, mean_share
from pytest_cudaopt.optimize.run import Run
from pytest_cudaopt.optimize.state import BranchState, RunState
from pytest_cudaopt.optimize.summary import StopReason
from pytest_cudaopt.peaks import known_peaks
from pytest_cudaopt.prepare import prepare

# After so many questions in a row without a usable answer, there will be none.
_MOST_SILENCES = 5


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
    """Have the attempt judged on every declared case, its tunables tried before."""
    run, number = runtime.context, state["attempt"]
    if run.proposals[number].candidate is None:
        run.evaluations.append(_unproposed(run, run.proposals[number]))
        return {}
    sanitizes = run.options.sanitize_elements > 0
    plan = Plan(
        stages=(Stage.COMPILE, Stage.CHECK, *([Stage.SANITIZE] if sanitizes else []), Stage.MEASURE),
        cases=run.kernel.cases if number == 0 else _small_first(run.kernel.cases),
        seed=run.options.seed,
        budget=run_budget.of(run),
        warmup=run.options.warmup,
        samples=run.options.samples,
        relative_error=run.options.relative_error,
        sanitize_elements=run.options.sanitize_elements,
        # What the start does at every case is worth knowing; a candidate needs one failure to be out.
        stop_at_first=state["attempt"] > 0,
    )
    if run.proposals[number].tunes:
        _tune(run, number, plan)
    candidate = run.proposals[number].candidate
    assert candidate is not None  # noqa: S101 - one without was answered above
    run.evaluations.append(run.judge(run.kernel, candidate, plan, run.device))
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
    evidence.write(run, attempt, run_budget.of(run))
    run.progress(attempt)
    if number == 0 and not verdict.decision.is_kept:
        return {"stopped_because": StopReason.START_REJECTED, "stopped_detail": verdict.reason}
    return {"best": best}


def onward(state: RunState, runtime: Runtime[Run]) -> str | list[Send]:
    """Go on with the round's next attempt, begin the next round, or finish."""
    run = runtime.context
    if is_stopped(state):
        return "finish"
    if state["attempt"] + 1 < len(run.proposals):
        return "evaluate"
    return "plan"


def plan_round(state: RunState, runtime: Runtime[Run]) -> Command[Literal["propose", "finish"]]:
    """Decide which attempts the next proposals vary, unless the run has had enough."""
    run = runtime.context
    if (stopped := _enough(run)) is not None:
        because, detail = stopped
        return Command(goto="finish", update={"stopped_because": because, "stopped_detail": detail})
    first = len(run.attempts)
    left = run.options.limits.iterations - (first - 1)
    branches: list[Send] = []
    for parent in search.parents(run.options.search, run.attempts, state["best"], left):
        number = first + len(branches)
        dialogue = run.proposer.begin(run, run.attempts[parent], number)
        if dialogue is None:
            break
        run.dialogues[number] = dialogue
        branches.append(Send("propose", BranchState(number=number, parent=parent)))
    if not branches:
        update = {
            "stopped_because": StopReason.NOTHING_LEFT,
            "stopped_detail": run.proposer.exhausted_reason,
        }
        return Command(goto="finish", update=update)
    return Command(goto=branches)


def propose(state: BranchState, runtime: Runtime[Run]) -> Command[Literal["tools", "gather"]]:
    """Ask for the proposal, or hear which tools are wanted before it."""
    run = runtime.context
    dialogue = run.dialogues[state["number"]]
    try:
        interruption.call(dialogue.ask, run.interrupted)
    except ModelFailure as failure:
        raise EnvironmentFault(
            "model",
            expected="one that answers",
            got=f"{failure.kind}: {failure}",
            next_step="Check OPENAI_API_KEY and OPENAI_BASE_URL, or name another one with --optimize-model",
        ) from failure
    return Command(goto="gather" if dialogue.proposal is not None else Send("tools", state))


def use_tools(state: BranchState, runtime: Runtime[Run]) -> Command[Literal["propose"]]:
    """Answer what the model wants to know."""
    runtime.context.dialogues[state["number"]].use_tools()
    return Command(goto=Send("propose", state))


def gather(state: RunState, runtime: Runtime[Run]) -> RunState:
    """Number and keep the round's proposals, in the order they were asked for."""
    run = runtime.context
    first = len(run.proposals)
    for number in sorted(run.dialogues):
        proposal = run.dialogues[number].proposal
        assert proposal is not None  # noqa: S101 - a branch ends with one
        run.usage += proposal.usage
        if run.options.record is not None and proposal.answer:
            replay_model.record(run.options.record, proposal.answer)
        _register(run, proposal)
    run.dialogues.clear()
    return {"attempt": first}


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
    closing.write(run, run.summary(state["stopped_because"], state["stopped_detail"]))
    return {}


def is_stopped(state: RunState) -> bool:
    return "stopped_because" in state


def _enough(run: Run) -> tuple[StopReason, str] | None:
    asked = [one.verdict.decision is Decision.NO_PROPOSAL for one in run.attempts]
    if len(asked) > _MOST_SILENCES and all(asked[-_MOST_SILENCES:]):
        return (
            StopReason.MODEL_FAILED,
            f"no proposal {_MOST_SILENCES} times in a row: {run.attempts[-1].verdict.reason}",
        )
    best = next(one for one in reversed(run.attempts) if one.verdict.decision.is_kept)
    share = None
    if run.options.limits.floor_share is not None:
        share = mean_share(floor_by_case(run.kernel, best.evaluation, known_peaks(run.device)))
    return limits.stop(run.options.limits, run.attempts, run.spent, share)


def _small_first(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Order the cases so that the first one that fails is the easiest to understand."""
    return tuple(sorted(cases, key=lambda case: math.prod(case.by_name.values())))


def _unproposed(run: Run, proposal: Proposal) -> Evaluation:
    return Evaluation(
        kernel=run.kernel.name,
        candidate="",
        device=run.device.description,
        status=Status.NOT_JUDGED,
        reason=proposal.failure,
    )


def _tune(run: Run, number: int, plan: Plan) -> None:
    """Replace the proposal by the same one with its fastest setting."""
    proposal = run.proposals[number]
    assert proposal.candidate is not None  # noqa: S101 - a proposal that tunes has one
    best, trials = tuning.best_setting(
        proposal.candidate,
        plan,
        lambda candidate, how: run.judge(run.kernel, candidate, how, run.device),
        seed=run.options.seed,
    )
    if trials:
        run.proposals[number] = replace(proposal, candidate=best)
        run.folder.write_tuning(number, best, trials)


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

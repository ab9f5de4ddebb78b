"""Having an attempt judged: the plan, its tunables before it, one at a time on the device."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_cudaopt.errors import EnvironmentFault
from pytest_cudaopt.evaluation import Evaluation, LatencyKind, Plan, Stage, Status
from pytest_cudaopt.incumbent import Incumbent
from pytest_cudaopt.optimize import comparing, interruption, ranking, run_budget, tuning
from pytest_cudaopt.plans import CANDIDATE_EXAMPLES

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.optimize.attempt import Attempt, Proposal
    from pytest_cudaopt.optimize.run import Run


def judge(run: Run, number: int) -> None:
    """Have the pending attempt judged on every declared case, its tunables tried before.

    Raises Interrupted if the run was interrupted before its turn on the device came.
    """
    pending = run.pending[number]
    if pending.proposal.candidate is None:
        pending.evaluation = _unproposed(run, pending.proposal)
        return
    plan = _plan(run, number)
    with run.device_turn:
        if run.interrupted.is_set():
            raise interruption.Interrupted
        if pending.proposal.tunes:
            _tune(run, number, plan)
        candidate = pending.proposal.candidate
        assert candidate is not None  # noqa: S101 - tuning keeps it
        evaluation = run.judge(run.kernel, candidate, plan, run.device)
        if number > 0 and run.options.fuzz_examples and _would_be_kept(run, evaluation):
            proof = run.judge(run.kernel, candidate, _proof_plan(run, plan), run.device)
            evaluation = _proved(evaluation, proof)
        pending.evaluation = evaluation


def beside(run: Run, number: int, candidate: Candidate, evaluation: Evaluation, best: Attempt) -> Evaluation:
    """Return the evaluation with what timing it side by side with `best` says; as it is where it lost anyway.

    Of several attempts of a round the best one may be another for each, so this comes when each is decided.
    Modelled times need no second look.
    """
    if not run.device.is_gpu or not _beats(run, evaluation, best):
        return evaluation
    incumbent = Incumbent("best", best.candidate)
    plan = replace(_plan(run, number), stages=(Stage.COMPILE, Stage.GATE), incumbents=(incumbent,))
    with run.device_turn:
        confirming = run.judge(run.kernel, candidate, plan, run.device)
    return _confirmed(evaluation, confirming)


def _would_be_kept(run: Run, evaluation: Evaluation) -> bool:
    """Whether the attempt is the best so far: what is slower needs no proof."""
    kept = [one for one in run.attempts if one.verdict.decision.is_kept]
    return _beats(run, evaluation, kept[-1])


def _beats(run: Run, evaluation: Evaluation, best: Attempt) -> bool:
    start, allowed = run.attempts[0].evaluation, run.options.allow_slower
    verdict = ranking.judge_challenger(evaluation, best.evaluation, start, allow_slower=allowed)
    return verdict.decision.is_kept


def _confirmed(evaluation: Evaluation, confirming: Evaluation) -> Evaluation:
    seconds = tuple((Counter(dict(evaluation.seconds)) + Counter(dict(confirming.seconds))).items())
    if not confirming.accepted:
        return replace(confirming, seconds=seconds)
    gated = {one.case_id: one.gated for one in confirming.outcomes}
    outcomes = (replace(one, gated=gated.get(one.case_id, ())) for one in evaluation.outcomes)
    return replace(evaluation, outcomes=tuple(outcomes), seconds=seconds)


def _proved(evaluation: Evaluation, proof: Evaluation) -> Evaluation:
    """Return the evaluation with what the ladder said, which decides if it refuses."""
    seconds = tuple((Counter(dict(evaluation.seconds)) + Counter(dict(proof.seconds))).items())
    if not proof.accepted:
        return replace(proof, seconds=seconds)
    return replace(
        evaluation,
        tried=proof.tried,
        tripwires=proof.tripwires,
        fuzz_seed=proof.fuzz_seed,
        seconds=seconds,
    )


def judge_anew(run: Run, best: int) -> None:
    """Measure the start and the incumbent of an earlier session again, where latencies are measured.

    What is compared with them from now on is then of the same day. Raises EnvironmentFault if one of them is
    not accepted any more.
    """
    latencies = run.attempts[0].evaluation.latencies.values()
    if all(one.kind is LatencyKind.MODELLED for one in latencies):
        return
    said = []
    for number in sorted({0, best}):
        before = run.attempts[number]
        after = run.judge(run.kernel, before.candidate, _plan(run, number), run.device)
        _require_accepted(run, before, after)
        run.folder.write_json(f"{run.folder.attempt_folder(number).name}/evaluation-anew.json", after)
        run.attempts[number] = replace(before, evaluation=after)
        means = comparing.mean_ns(after, before.evaluation)
        if means is not None:
            said.append(f"attempt {number} takes {means[0] / means[1]:.3f}x of what it took")
    speedup = comparing.mean_ns(run.attempts[0].evaluation, run.attempts[best].evaluation)
    if speedup is not None:
        run.attempts[best] = replace(run.attempts[best], speedup=speedup[0] / speedup[1])
    run.notes.append(f"measured anew when the run went on after attempt {run.earlier - 1}: {', '.join(said)}")


def _require_accepted(run: Run, before: Attempt, after: Evaluation) -> None:
    if not after.accepted:
        raise EnvironmentFault(
            f"attempt {before.number} of run {run.folder.path}",
            expected="to be accepted as it was when the run was recorded",
            got=f"{after.status.value}: {after.reason}",
            next_step="Start afresh without --optimize-from",
        )


def _plan(run: Run, number: int) -> Plan:
    sanitizes = run.options.sanitize_elements > 0
    return Plan(
        stages=(
            Stage.COMPILE,
            Stage.LIMITS,
            Stage.CHECK,
            *([Stage.SANITIZE] if sanitizes else []),
            Stage.MEASURE,
        ),
        cases=run.kernel.cases if number == 0 else _small_first(run.kernel.cases),
        seed=run.options.seed,
        budget=run_budget.of(run),
        warmup=run.options.warmup,
        samples=run.options.samples,
        relative_error=run.options.relative_error,
        sanitize_elements=run.options.sanitize_elements,
        # What the start does at every case is worth knowing; a candidate needs one failure to be out.
        stop_at_first=number > 0,
        thresholds=run.kernel.gate,
    )


def _proof_plan(run: Run, plan: Plan) -> Plan:
    """Return what is left to go through for an attempt that would be kept."""
    return replace(
        plan,
        stages=(
            *(Stage.COMPILE, Stage.SCAN, Stage.CHECK, Stage.PROBE, Stage.FUZZ, Stage.CONTRACT),
            # With drawn cases, and what rounding hides, this time.
            *(stage for stage in plan.stages if stage is Stage.SANITIZE),
        ),
        rounding=True,
        fuzz_examples=CANDIDATE_EXAMPLES * run.options.fuzz_examples,
        fuzz_seed=run.options.fuzz_seed,
        witness=run.start,
    )


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
    pending = run.pending[number]
    assert pending.proposal.candidate is not None  # noqa: S101 - a proposal that tunes has one
    best, trials = tuning.best_setting(
        pending.proposal.candidate,
        plan,
        lambda candidate, how: run.judge(run.kernel, candidate, how, run.device),
        seed=run.options.seed,
    )
    if trials:
        pending.proposal = replace(pending.proposal, candidate=best, tried=trials)
        run.folder.write_tuning(number, pending.proposal, trials, run.start)

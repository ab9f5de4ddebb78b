"""When a candidate is better than the incumbent: pure rules over evaluations."""

from __future__ import annotations

import math

from pytest_cudaopt.evaluation import Evaluation
from pytest_cudaopt.optimize import comparing, held_out
from pytest_cudaopt.optimize.attempt import Decision, Verdict

_SHOWN_CASES = 4


def judge_start(start: Evaluation) -> Verdict:
    """Decide whether the starting kernel is one to optimise: one that passes its own checks."""
    if not start.accepted:
        return Verdict(Decision.NOT_ACCEPTED, f"the starting kernel is not accepted: {start.reason}")
    return Verdict(Decision.START, "the kernel as it is")


def judge_challenger(
    challenger: Evaluation,
    incumbent: Evaluation,
    start: Evaluation,
    *,
    allow_slower: float,
    incumbent_number: int = 0,
) -> Verdict:
    """Decide whether `challenger` replaces `incumbent`, which is attempt `incumbent_number`.

    It must be accepted, have the lower geometric mean, and be slower by more than `allow_slower`
    (0.02 is 2 %) in no measured case: neither than the incumbent, nor than the start, since small losses
    allowed at every step would add up.
    """
    if not challenger.candidate:
        return Verdict(Decision.NO_PROPOSAL, challenger.reason)
    if not challenger.accepted:
        return Verdict(Decision.NOT_ACCEPTED, held_out.reason(challenger))
    unmeasured = sorted(set(incumbent.latencies) - set(challenger.latencies))
    means = comparing.mean_ns(challenger, incumbent)
    if unmeasured or means is None:
        return Verdict(Decision.NOT_FASTER, f"no latency for {', '.join(unmeasured) or 'any case'}")
    mean_ns, incumbent_ns = means
    # A reader of the verdict may see it beside the new best, so that "the best one" would be the wrong one.
    named = f"attempt {incumbent_number}, the best before it"
    reason = f"{mean_ns / incumbent_ns:.3f}x the latency of {named}{_by_case(challenger, incumbent)}"
    if mean_ns >= incumbent_ns:
        return Verdict(Decision.NOT_FASTER, reason)
    for name, other in ((named, incumbent), ("the start", start)):
        if slower := _slowest_case(challenger, other):
            case_id, ratio = slower
            if ratio > 1 + allow_slower:
                return Verdict(
                    Decision.CASE_SLOWER,
                    f"faster overall, but {ratio:.3f}x the latency of {name} at {case_id} "
                    f"({1 + allow_slower:g}x is allowed)",
                )
    return _unconfirmed(challenger, named, allow_slower) or Verdict(Decision.NEW_BEST, reason)


def _unconfirmed(challenger: Evaluation, named: str, allow_slower: float) -> Verdict | None:
    """Return why what was timed side by side with the best one does not replace it; None if it does.

    The geometric mean of the cases' upper bounds must be below 1, so that its true ratio is with what the
    gate asks of each, and no case's lower bound above what is allowed.
    """
    gated = [(o.case.weight, o.case_id, one) for o in challenger.outcomes for one in o.gated]
    if not gated:
        return None
    for _, case_id, one in gated:
        if one.lower is not None and one.lower > 1 + allow_slower:
            reason = f"timed side by side at {case_id}: {one.reason} ({1 + allow_slower:g}x is allowed)"
            return Verdict(Decision.CASE_SLOWER, reason)
    # What runs the same code is exactly as fast; what could not be compared says nothing for it.
    logs = [(weight, math.log(one.upper or 1.0)) for weight, _, one in gated]
    most = math.exp(sum(weight * log for weight, log in logs) / sum(weight for weight, _ in logs))
    if most < 1:
        return None
    least_sure = max((one for _, _, one in gated), key=lambda one: one.upper or 1.0)
    return Verdict(Decision.NOT_FASTER, f"not confirmed beside {named}: {least_sure.reason}")


def _by_case(challenger: Evaluation, other: Evaluation) -> str:
    """Return the ratios of the cases in brackets, the slowest first; none where there is a single case."""
    pairs = comparing.case_ns(challenger, other)
    if len(pairs) < 2:
        return ""
    ratios = sorted(((own_ns / other_ns, case_id) for case_id, (own_ns, other_ns) in pairs.items()))[::-1]
    # The ends say most: which case lost, which one won.
    shown = ratios if len(ratios) <= _SHOWN_CASES else [*ratios[: _SHOWN_CASES - 1], ratios[-1]]
    more = f", {len(ratios) - len(shown)} cases between" if len(shown) < len(ratios) else ""
    return f" ({', '.join(f'{case_id} {ratio:.3f}x' for ratio, case_id in shown)}{more})"


def _slowest_case(challenger: Evaluation, other: Evaluation) -> tuple[str, float] | None:
    pairs = comparing.case_ns(challenger, other)
    ratios = [(own_ns / other_ns, case_id) for case_id, (own_ns, other_ns) in pairs.items()]
    if not ratios:
        return None
    ratio, case_id = max(ratios)
    return case_id, ratio

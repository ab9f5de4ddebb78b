"""The certificate: what a verdict stands on, and what it does not cover.

A list of tests, not a proof: whoever reads it can see what was not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_cudaopt.evaluation import CaseStatus, Evaluation, LatencyKind, Stage, Tried
from pytest_cudaopt.properties import Property
from pytest_cudaopt.reasons import count
from pytest_cudaopt.tripwire import Tripwire

_NOT_FUZZED = (
    "sizes and values other than those of the declared cases",
    "what the starting kernel can do beyond the declared cases",
)
_NOT_LARGE = "arrays of more than 2^31 elements"
_NOT_SANITIZED = "races, uninitialised reads, unfinished copies and dependence on the order of execution"
_NOT_SEEN_BY_A_GPU = "reads outside an array that meet no unmapped page"


@dataclass(frozen=True)
class Certificate:
    """What was tried of a candidate.

    `cases` were compared with the reference, `sanitized` executed with every check of `sim`. `seed` is
    that of the drawn cases, None if none were drawn; `tripwires` stand out in the code;
    `reference_origin` is where the reference is from, if from no person. `proved` and
    `not_checked` are sentences for a person.
    """

    kernel: str
    candidate: str
    device: str
    accepted: bool
    seed: int | None
    cases: tuple[str, ...]
    sanitized: tuple[str, ...]
    tried: tuple[Tried, ...]
    proved: tuple[str, ...]
    not_checked: tuple[str, ...]
    reference_origin: str = ""
    latency: LatencyKind | None = None
    tripwires: tuple[Tripwire, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return it as `certificate.json` holds it."""
        return {
            "kernel": self.kernel,
            "candidate": self.candidate,
            "device": self.device,
            "reference": self.reference_origin or "declared",
            "accepted": self.accepted,
            "seed": self.seed,
            "cases": list(self.cases),
            "sanitized": list(self.sanitized),
            "properties": [_tried_json(one) for one in self.tried],
            "tripwires": [one.to_json() for one in self.tripwires],
            "latency": None if self.latency is None else str(self.latency),
            "proved": list(self.proved),
            "not_checked": list(self.not_checked),
        }

    @property
    def line(self) -> str:
        """Say it in one line."""
        trials = sum(one.judged for one in self.tried)
        kept = len({one.property for one in self.tried if one.judged})
        generated = [f"reference: {self.reference_origin}"] if self.reference_origin else []
        parts = [*generated, f"right at {count(len(self.cases), 'declared case')}"]
        if trials:
            parts.append(f"{trials} trials of {count(kept, 'property', 'properties')} (seed {self.seed})")
        if self.sanitized:
            parts.append(f"no findings at {count(len(self.sanitized), 'case')}")
        return f"{', '.join(parts)}; not checked: {count(len(self.not_checked), 'thing')}"

    @property
    def lines(self) -> tuple[str, ...]:
        """Say it in full: what was tried, how often, and what was not."""
        tried = [f"  {_tried_text(one)}" for one in self.tried]
        origin = [f"  reference: {self.reference_origin}"] if self.reference_origin else []
        return (
            *origin,
            *(f"  {one}" for one in self.proved),
            *tried,
            *(f"  noticed, no verdict: {one}" for one in self.tripwires),
            *(f"  not checked: {one}" for one in self.not_checked),
        )


def certificate_of(evaluation: Evaluation) -> Certificate:
    """Return what an evaluation stands on."""
    passed = [o.case_id for o in evaluation.outcomes if o.status is CaseStatus.PASSED and o.comparisons]
    kinds = {latency.kind for latency in evaluation.latencies.values()}
    return Certificate(
        kernel=evaluation.kernel,
        candidate=evaluation.candidate,
        device=evaluation.device,
        accepted=evaluation.accepted,
        seed=evaluation.fuzz_seed,
        cases=tuple(passed),
        sanitized=tuple(_sanitized_ids(evaluation)),
        tried=evaluation.tried,
        proved=tuple(_proved(evaluation)),
        not_checked=tuple(_not_checked(evaluation)),
        reference_origin=evaluation.reference_origin,
        latency=kinds.pop() if kinds else None,
        tripwires=evaluation.tripwires,
    )


def _tried_json(one: Tried) -> dict[str, Any]:
    return {
        "property": str(one.property),
        "stage": str(one.stage),
        "trials": one.judged,
        "discarded": one.discarded,
        "why_discarded": one.why or None,
    }


def _tried_text(one: Tried) -> str:
    if one.stage is Stage.SANITIZE:
        return f"{one.stage}: no findings at {count(one.judged, 'drawn case')}"
    dropped = f", {one.discarded} bind nobody ({one.why})" if one.discarded else ""
    if not one.judged and not one.discarded:
        dropped = f" ({one.why})"
    return f"{one.stage}: right {one.property.meaning}: {count(one.judged, 'trial')}{dropped}"


def _proved(evaluation: Evaluation) -> list[str]:
    passed = [o.case_id for o in evaluation.outcomes if o.status is CaseStatus.PASSED and o.comparisons]
    proved: list[str] = []
    if evaluation.outcomes:
        proved.append("compiles, with the declared parameter types")
    if (limits := evaluation.limits) is not None and not limits.findings:
        but = " but for what is waived" if limits.waived else ""
        proved.append(f"keeps {limits.limits}{but} ({limits.compiled_for}): {limits.figures}")
    if passed:
        proved.append(f"matches the reference within tolerance at {', '.join(passed)}")
        if _sees_every_access(evaluation):
            proved.append("no access out of bounds or misaligned at these cases")
    if seen := _sanitized_ids(evaluation):
        proved.append(
            f"on sim no {_NOT_SANITIZED.replace(' and ', ' or ')} but what is waived at {', '.join(seen)}"
        )
    return proved


def _sanitized_ids(evaluation: Evaluation) -> list[str]:
    """Return the cases the checks of `sim` have seen without a finding that stands."""
    return [
        outcome.case_id
        for outcome in evaluation.outcomes
        if outcome.sanitized is not None and outcome.sanitized.is_done and not outcome.sanitized.findings
    ]


def _not_checked(evaluation: Evaluation) -> list[str]:
    kinds = {latency.kind for latency in evaluation.latencies.values()}
    unmeasured = [] if LatencyKind.MEASURED in kinds else ["latency on a GPU"]
    seen = _sanitized_ids(evaluation)
    others = [o.case_id for o in evaluation.outcomes if o.case_id not in seen]
    unsanitized = [f"{_NOT_SANITIZED} at {', '.join(others)}"] if seen and others else []
    if not seen:
        unsanitized = [_NOT_SANITIZED]
    unseen = [] if _sees_every_access(evaluation) else [_NOT_SEEN_BY_A_GPU]
    unfuzzed = () if evaluation.tried else _NOT_FUZZED
    # A property of which every trial was discarded was not checked at all.
    judged = {one.property for one in evaluation.tried if one.judged}
    unjudged = [one for one in evaluation.tried if one.property not in judged]
    lacking = [
        f"being right {one.property.meaning}: {one.why}"
        for one in unjudged
        if one.property is not Property.LARGE_OFFSETS
    ]
    why = next((f": {one.why}" for one in unjudged if one.property is Property.LARGE_OFFSETS), "")
    small = [] if Property.LARGE_OFFSETS in judged or not evaluation.tried else [f"{_NOT_LARGE}{why}"]
    oracle = ["the reference: nobody has"] if evaluation.reference_origin else []
    return [*oracle, *unfuzzed, *small, *lacking, *unsanitized, *unseen, *unmeasured]


def _sees_every_access(evaluation: Evaluation) -> bool:
    return evaluation.device.startswith("sim")

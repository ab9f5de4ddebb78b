"""What becomes of a baseline once a case was gated: whether to write, and which versions stay. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from pytest_cudaopt.baseline import (
    ANCHOR,
    BASELINE,
    Baseline,
    CaseRecord,
    Held,
    Version,
    standing_at,
    three_digits,
    version_of,
)
from pytest_cudaopt.declared_facts import facts_of
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.gated import Gated, GateVerdict, Thresholds

if TYPE_CHECKING:
    from pytest_cudaopt.candidate import Candidate
    from pytest_cudaopt.cases import Case
    from pytest_cudaopt.declared import Kernel
    from pytest_cudaopt.recorded import Machine, Recorded

ACCEPT_SLOWER = "--cudaopt-accept-slower"


class Mode(StrEnum):
    """What `--cudaopt-baseline` says: gate, gate and record, record what is new, or neither."""

    CHECK = "check"
    UPDATE = "update"
    UPDATE_NEW = "update-new"
    OFF = "off"

    @property
    def writes(self) -> bool:
        return self in (Mode.UPDATE, Mode.UPDATE_NEW)

    @property
    def replaces(self) -> bool:
        """Whether a record gives way to another, as it must for something worse to be accepted."""
        return self is Mode.UPDATE


@dataclass(frozen=True)
class Seen:
    """What an item saw of the current version at one case: the record it would leave, and the verdicts.

    `gated` is what the case's incumbents led to; verdicts on other versions, such as a git revision, do not
    count here. `samples_ns` are for the cache folder. `held` are the versions the verdicts are on, by name;
    None where nobody else can have recorded in between.
    """

    case_id: str
    version: Version
    record: CaseRecord
    gated: tuple[Gated, ...] = ()
    samples_ns: tuple[float, ...] = ()
    held: Mapping[str, Version] | None = None


@dataclass(frozen=True)
class Change:
    """The baseline to write, None to leave the files as they are, and one line that says why."""

    baseline: Baseline | None
    note: str = ""


def seen_of(
    kernel: Kernel,
    case_id: str,
    case: Case,
    candidate: Candidate,
    machine: Machine,
    recorded: Recorded,
    on: str,
    gated: Sequence[Gated] = (),
    samples_ns: Sequence[float] = (),
    held: Mapping[str, Version] | None = None,
) -> Seen:
    """Return what an item saw, its median rounded to three digits; `on` is the day, such as `2026-11-30`."""
    rounded = replace(recorded, median_ns=three_digits(recorded.median_ns))
    record = CaseRecord(facts_of(kernel, case), rounded, machine, on)
    return Seen(case_id, version_of(kernel, candidate), record, tuple(gated), tuple(samples_ns), held)


def updated(old: Baseline | None, seen: Seen, mode: Mode, accept_slower: bool, named: Baseline) -> Change:
    """Return what becomes of `old`, the kernel's baseline on this device; `named` is an empty one.

    The same: nothing. Faster: the current version, instead of those that it beats. Slower: nothing unless
    `accept_slower`, and then instead of all. Unsure: the current version, beside the best one so far.
    """
    if not mode.writes:
        return Change(None)
    base = named if old is None else old
    standing = _standing(base, seen)
    known = base.recorded_at(seen.case_id)
    if mode is Mode.UPDATE_NEW and known:
        if BASELINE in standing:
            return Change(None)
        changed = _changed(known[0], seen)
        how = "--cudaopt-baseline update records it anew"
        return Change(None, f"baseline of {seen.case_id} stays: its {changed} changed; {how}")
    if _moved(standing, seen):
        return Change(None, f"baseline of {seen.case_id} stays: it was recorded meanwhile; run it again")
    if BASELINE not in standing:
        anew = f" anew: its {_changed(known[0], seen)} changed" if known else ""
        return Change(_with(base, seen, keeping=()), f"baseline of {seen.case_id} recorded{anew}")
    return _judged(base, seen, standing, accept_slower)


def with_properties(
    old: Baseline | None, probed: Mapping[str, Held], mode: Mode, accept_slower: bool, named: Baseline
) -> Change:
    """Return what becomes of `old` once the kernel was probed: nothing if a property was lost.

    `accept_slower` lets that be recorded too.
    """
    base = named if old is None else old
    known = {name: held.holds for name, held in base.properties.items()}
    now = {name: held.holds for name, held in probed.items()}
    if not mode.writes or now == known or (mode is Mode.UPDATE_NEW and known):
        return Change(None)
    # What was not probed this time is not lost.
    lost = sorted(name for name, holds in known.items() if holds and name in now and not now[name])
    if lost and not accept_slower:
        text = f"baseline of properties stays: {', '.join(lost)} lost; {ACCEPT_SLOWER} would record it"
        return Change(None, text)
    also = f" although {', '.join(lost)} lost" if lost else ""
    return Change(replace(base, properties=dict(probed)), f"baseline of properties recorded{also}")


def _standing(base: Baseline, seen: Seen) -> dict[str, Version]:
    """Return the versions of the case that can be compared, by the name they are gated under."""
    versions = standing_at(base, seen.case_id, seen.record.case)
    return {name: one for name, one in versions.items() if one.signature == seen.version.signature}


def _moved(standing: Mapping[str, Version], seen: Seen) -> bool:
    """Whether another process has recorded since: the verdicts then are of other versions."""
    if seen.held is None:
        return False
    return any(
        name not in seen.held or seen.held[name].identity != one.identity for name, one in standing.items()
    )


def _changed(known: Version, seen: Seen) -> str:
    return "signature" if known.cases[seen.case_id].case == seen.record.case else "sizes or inputs"


def _judged(base: Baseline, seen: Seen, standing: Mapping[str, Version], accept_slower: bool) -> Change:
    by_name = {one.against: one for one in seen.gated if one.against in standing}
    if slower := [one for one in by_name.values() if _is_slower(one, seen)]:
        if not accept_slower:
            refused = f"baseline of {seen.case_id} stays: {_than(slower[0])}; {ACCEPT_SLOWER} would record it"
            return Change(None, refused)
        return Change(
            _with(base, seen, keeping=()), f"baseline of {seen.case_id} recorded although {_than(slower[0])}"
        )
    ungated = set(standing) - set(by_name)
    if ungated and standing[BASELINE].identity != seen.version.identity and not accept_slower:
        unknown = f"it was not gated, and may be slower; {ACCEPT_SLOWER} would record it"
        return Change(None, f"baseline of {seen.case_id} stays: {unknown}")
    # What was not gated is not known to be beaten.
    verdicts = {name: by_name[name].verdict if name in by_name else GateVerdict.UNSURE for name in standing}
    is_same = verdicts[BASELINE] is GateVerdict.SAME
    if is_same or standing[BASELINE].identity == seen.version.identity:
        return _same(base, seen, standing)
    unbeaten = [standing[name] for name, verdict in verdicts.items() if verdict is not GateVerdict.FASTER]
    # The anchor is the better one of two.
    best = unbeaten[-1:]
    note = f"baseline of {seen.case_id} recorded"
    if verdicts[BASELINE] is GateVerdict.FASTER:
        note += f": {_than(by_name[BASELINE])}" if BASELINE in by_name else ""
    if best:
        note += "; what was recorded before stays its anchor"
    return Change(_with(base, seen, keeping=best), note)


def _is_slower(gated: Gated, seen: Seen) -> bool:
    """Whether it must not be written unasked, also where a gate that only warns does not call it slower."""
    is_modelled = seen.record.seen.kind is LatencyKind.MODELLED
    beyond = gated.ratio is not None and gated.ratio >= Thresholds().modelled_fail
    return gated.verdict is GateVerdict.SLOWER or (is_modelled and beyond)


def _same(base: Baseline, seen: Seen, standing: Mapping[str, Version]) -> Change:
    """Leave everything as it is, but for counters of the same version under another toolchain or model.

    Those would have to be counted anew in every session.
    """
    record = standing[BASELINE].cases[seen.case_id]
    is_recounted = (
        seen.record.seen.kind is LatencyKind.MODELLED
        and record.machine != seen.record.machine
        and standing[BASELINE].identity == seen.version.identity
    )
    if not is_recounted:
        return Change(None, f"baseline of {seen.case_id} stays: the same")
    keeping = [version for name, version in standing.items() if name == ANCHOR]
    return Change(
        _with(base, seen, keeping=keeping), f"baseline of {seen.case_id} counted anew on another toolchain"
    )


def _than(gated: Gated) -> str:
    if gated.ratio is None:
        return f"{gated.verdict} than the {gated.against}"
    return f"{abs(gated.ratio - 1):.1%} {gated.verdict} than the {gated.against}".replace("%", " %")


def _with(base: Baseline, seen: Seen, keeping: Sequence[Version]) -> Baseline:
    """Record `seen` in front; its case leaves all other versions but `keeping`, and who has no case goes."""
    identity = seen.version.identity
    kept = {id(version) for version in keeping}
    own: dict[str, CaseRecord] = {}
    others: list[Version] = []
    for version in base.versions:
        cases = dict(version.cases)
        if id(version) not in kept:
            cases.pop(seen.case_id, None)
        if version.identity == identity:
            own |= cases
        elif cases:
            others.append(replace(version, cases=cases))
    first = replace(seen.version, cases={**own, seen.case_id: seen.record})
    return replace(base, versions=(first, *others))

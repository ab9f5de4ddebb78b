"""A baseline that was recorded elsewhere: what taking it over changes, and whether that hides a loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pytest_cudaopt.baseline import Baseline, CaseRecord, Held, Version
from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.gated import Thresholds


@dataclass(frozen=True)
class Merge:
    """The baseline that comes of it, and a sentence for each case: what changes, and what got slower."""

    baseline: Baseline
    changes: tuple[str, ...]
    slower: tuple[str, ...] = ()


def merged(old: Baseline | None, new: Baseline, thresholds: Thresholds | None = None) -> Merge:
    """Return `new` over `old`; cases that `new` knows nothing of stay as they are."""
    if old is None:
        return Merge(new, (*(f"{case_id} new" for case_id in new.case_ids), *_properties({}, new.properties)))
    known = thresholds or Thresholds()
    slower = [text for case_id in new.case_ids for text in _slower(case_id, old, new, known)]
    changes = [text for case_id in new.case_ids for text in _changes(case_id, old, new)]
    changes += _properties(old.properties, new.properties)
    slower += [f"{name} lost" for name, held in old.properties.items() if held.holds and _is_lost(name, new)]
    versions = list(new.versions)
    for version in old.versions:
        left = {case_id: one for case_id, one in version.cases.items() if case_id not in new.case_ids}
        if left:
            versions = _added(versions, replace(version, cases=left))
    properties = new.properties or old.properties
    return Merge(replace(new, versions=tuple(versions), properties=properties), tuple(changes), tuple(slower))


def _properties(before: Mapping[str, Held], after: Mapping[str, Held]) -> list[str]:
    return ["properties"] if after and after != before else []


def _is_lost(name: str, new: Baseline) -> bool:
    return bool(new.properties) and not (name in new.properties and new.properties[name].holds)


def _added(versions: list[Version], one: Version) -> list[Version]:
    """Add the records of `one` to the version that it is, or it itself behind all others."""
    for at, version in enumerate(versions):
        if version.identity == one.identity:
            both = replace(version, cases={**one.cases, **version.cases})
            return [*versions[:at], both, *versions[at + 1 :]]
    return [*versions, one]


def _slower(case_id: str, old: Baseline, new: Baseline, thresholds: Thresholds) -> list[str]:
    """Say by how much a case got slower than what it stood on, unless it still stands on that."""
    after = new.recorded_at(case_id)
    now = after[0].cases[case_id]
    texts = []
    for version in old.recorded_at(case_id):
        before = version.cases[case_id]
        stays = any(one.identity == version.identity for one in after)
        if stays or before.case != now.case:
            continue
        ratio = now.seen.median_ns / before.seen.median_ns if before.seen.median_ns else 1.0
        if ratio > 1 + _tolerance(before, now, thresholds):
            texts.append(f"{_step(case_id, before, now)}, {ratio - 1:.1%} slower".replace("%", " %"))
    return texts


def _tolerance(before: CaseRecord, now: CaseRecord, thresholds: Thresholds) -> float:
    if now.seen.kind is LatencyKind.MEASURED:
        # Between two runs lies noise that no number of samples removes.
        return thresholds.equivalence
    return 0.0 if before.machine == now.machine else thresholds.modelled_warn - 1


def _changes(case_id: str, old: Baseline, new: Baseline) -> list[str]:
    before, after = old.recorded_at(case_id), new.recorded_at(case_id)
    if not before:
        return [f"{case_id} new"]
    then, now = before[0].cases[case_id], after[0].cases[case_id]
    if then.case != now.case:
        return [f"{case_id} of other sizes or inputs"]
    if [_parts(one, case_id) for one in before] == [_parts(one, case_id) for one in after]:
        return []
    return [_step(case_id, then, now)]


def _parts(version: Version, case_id: str) -> tuple[Version, CaseRecord]:
    return version.identity, version.cases[case_id]


def _step(case_id: str, before: CaseRecord, now: CaseRecord) -> str:
    then_ns, now_ns = before.seen.median_ns, now.seen.median_ns
    return f"{case_id} {format_duration(then_ns)} -> {format_duration(now_ns)}"

"""Baselines as lines for a person: a table of many, one in full, and how the current source differs. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

from pytest_cudaopt.baseline import Baseline, CaseRecord, Header, Version
from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.recorded import Machine

_HEAD = ("kernel", "device", "case", "median", "anchor", "recorded", "on")


def table(baselines: Iterable[tuple[str, Baseline]], today: date) -> list[str]:
    """Return a table of baselines, each with the kernel's id, a row per case."""
    rows: list[Sequence[str]] = [_HEAD]
    for kernel_id, baseline in baselines:
        for case_id in baseline.case_ids:
            records = [one.cases[case_id] for one in baseline.recorded_at(case_id)]
            medians = [_median(one) for one in records]
            rows.append(
                (
                    kernel_id,
                    baseline.device,
                    case_id,
                    medians[0],
                    medians[1] if len(medians) > 1 else "-",
                    _age(records[0].on, today),
                    _toolchain(records[0].machine),
                )
            )
    return _aligned(rows)


def described(kernel_id: str, baseline: Baseline, today: date) -> list[str]:
    """Return all that is recorded of a kernel on one device, but the texts of its sources."""
    lines = [f"{kernel_id} on {baseline.device}"]
    for version in baseline.versions:
        lines.append(f"  {version.file}, {len(version.source.splitlines())} lines, {version.signature}")
        lines += [f"    {directive}" for directive in version.launch]
        lines += [f"    {what}  {text}" for what, text in _settings(version).items() if text]
        if version.headers:
            lines.append(f"    headers  {', '.join(sorted(version.headers))}")
        for case_id, record in sorted(version.cases.items()):
            lines.append(f"    {_role(baseline, version, case_id)} of {_record(case_id, record, today)}")
    for name, held in sorted(baseline.properties.items()):
        lines.append(f"  {name}  {'holds' if held.holds else 'does not hold'}{_because(held.why)}")
    return lines


def difference(baseline: Baseline, version: Version, current: Version) -> list[str]:
    """Return how `current` differs from a recorded version; empty if it does not."""
    lines = list(_unified(version.source, current.source, f"baseline/{version.file}", current.file))
    lines += _headers(version.headers, current.headers)
    for what, before, after in (
        ("signature", [version.signature], [current.signature]),
        ("launch", version.launch, current.launch),
        *((name, [text], [_settings(current)[name]]) for name, text in _settings(version).items()),
    ):
        if list(before) != list(after):
            lines.append(what)
            lines += [f"- {text}" for text in before if text] + [f"+ {text}" for text in after if text]
    if not lines:
        return []
    roles = [f"{_role(baseline, version, case_id)} of {case_id}" for case_id in sorted(version.cases)]
    return [f"{', '.join(roles)}:", *lines]


def _settings(version: Version) -> dict[str, str]:
    return {
        "tunables": _pairs(version.tunables),
        "defines": _pairs(version.defines),
        "options": " ".join(version.options),
    }


def _pairs(values: Mapping[str, object]) -> str:
    return " ".join(f"{name}={value}" for name, value in sorted(values.items()))


def _role(baseline: Baseline, version: Version, case_id: str) -> str:
    return "baseline" if baseline.recorded_at(case_id)[0] is version else "anchor"


def _record(case_id: str, record: CaseRecord, today: date) -> str:
    sizes = _pairs({**record.case.sizes, **record.case.types})
    counters = "" if record.seen.counters is None else f", {len(record.seen.counters)} counters"
    age, toolchain = _age(record.on, today), _toolchain(record.machine)
    return f"{case_id} ({sizes}): {_median(record)}{counters}, {age}, {toolchain}"


def _median(record: CaseRecord) -> str:
    return f"{format_duration(record.seen.median_ns)} {record.seen.mode or record.seen.kind}"


def _toolchain(machine: Machine) -> str:
    parts = [machine.architecture, f"CUDA {machine.toolkit}"]
    parts += [f"driver {machine.driver}"] if machine.driver else []
    parts += [f"model {machine.model}"] if machine.model else []
    return ", ".join(parts)


def _age(on: str, today: date) -> str:
    try:
        days = (today - date.fromisoformat(on)).days
    except ValueError:
        return on
    if days <= 0:
        return f"{on} (today)"
    return f"{on} ({days} day{'s' if days > 1 else ''} ago)"


def _because(why: str) -> str:
    return f": {why}" if why else ""


def _headers(before: Mapping[str, Header], after: Mapping[str, Header]) -> Iterator[str]:
    for name in sorted({*before, *after}):
        then, now = before.get(name), after.get(name)
        if then is not None and now is not None and then.sha256 == now.sha256:
            continue
        if (then is not None and then.text is None) or (now is not None and now.text is None):
            yield f"header {name} differs; it was too large to keep"
            continue
        old, new = ("" if one is None else one.text or "" for one in (then, now))
        yield from _unified(old, new, f"baseline/{name}", name)


def _unified(before: str, after: str, old_name: str, new_name: str) -> Iterator[str]:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), old_name, new_name, lineterm="")
    if (shown := list(lines)) or before == after:
        yield from shown
    else:
        yield f"{new_name} differs in line ends only"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]

"""Latencies and counters of several versions at one case, side by side: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_cudaopt.duration_text import format_duration
from pytest_cudaopt.evaluation import LatencyKind
from pytest_cudaopt.latency_text import format_latency
from pytest_cudaopt.optimize import model_terms

if TYPE_CHECKING:
    from pytest_cudaopt.evaluation import Latency

_MEANINGS = {
    "warp_instructions": "instructions issued, once per warp",
    "lane_instructions": "the same per thread that took part",
    "divergent_branches": "branches at which a warp parted",
    "global_load_requests": "load instructions of warps",
    "global_load_sectors": "32-byte sectors they touched; 4 a request of float, 16 of float4 are the fewest",
    "global_store_requests": "store instructions of warps",
    "global_store_sectors": "as of loads",
    "shared_requests": "instructions of warps on shared memory",
    "shared_wavefronts": "passes through the banks; 1 a request of float, 4 of float4 without conflicts",
    "local_requests": "spills, and arrays that are not in registers",
    "atomic_serializations": "atomics of one warp that had to take turns",
    "max_block_instructions": "warp instructions of the longest block",
}
_GAP = "  "


def table(
    columns: Mapping[str, Latency], multiprocessors: int, least_ns: Mapping[str, float] | None = None
) -> str:
    """Return a row for whatever is not zero everywhere, a column for each latency by its title.

    `least_ns` are terms of the model that cannot be less, by name.
    """
    shown = list(columns.values())
    rows = [_Row("total", [_latency(one) for one in shown])]
    rows += _terms(shown, least_ns)
    rows += _occupancy(shown, multiprocessors)
    rows += _counters(shown)
    rows += [_Row("note", [note]) for one in shown for note in one.notes]
    return _aligned(["", *columns], rows)


class _Row:
    """A name, a text for each column, and what the name means."""

    def __init__(self, name: str, cells: Sequence[str], meaning: str = "") -> None:
        self.name, self.cells, self.meaning = name, cells, meaning


def _latency(latency: Latency) -> str:
    if latency.kind is LatencyKind.MODELLED:
        return format_duration(latency.median_ns)
    return format_latency(latency)


def _terms(shown: Sequence[Latency], least_ns: Mapping[str, float] | None) -> list[_Row]:
    by_name = [{term.name: term for term in model_terms.gains(one, least_ns)} for one in shown]
    rows = []
    for name in dict.fromkeys(name for terms in by_name for name in terms):
        terms = [of.get(name) for of in by_name]
        if any(term is not None and term.ns for term in terms):
            cells = ["" if term is None else f"{term.ns:.0f} (-{term.gain_ns:.0f})" for term in terms]
            rows.append(_Row(f"term {name}, ns", cells))
    if rows:
        rows[0].meaning = "in brackets: what would be won without it, or with what declared work needs"
    return rows


def _occupancy(shown: Sequence[Latency], multiprocessors: int) -> list[_Row]:
    cells = [_resident(one, multiprocessors) for one in shown]
    return [_Row("warps per SM", cells)] if any(cells) else []


def _resident(latency: Latency, multiprocessors: int) -> str:
    """Return the warps an SM holds and what keeps it from more, the grid itself if that is too small."""
    if not latency.occupancy:
        return ""
    warps, blocks = latency.occupancy["warps_per_sm"], latency.occupancy["blocks_per_sm"]
    limit = latency.occupancy["limited_by"]
    counted = (latency.counters or {}).get("blocks")
    if counted:
        most = -(-counted // multiprocessors)
        if most < blocks:
            warps, limit = most * (warps // blocks), "grid"
    return f"{warps} ({limit})"


def _counters(shown: Sequence[Latency]) -> list[_Row]:
    by_name = [dict(_flat(one.counters or {})) for one in shown]
    rows: list[_Row] = []
    for name in dict.fromkeys(name for counters in by_name for name in counters):
        if any(counters.get(name) for counters in by_name):
            meaning = _MEANINGS.get(name.partition(".")[0], "")
            # All pipes mean the same.
            if any(row.meaning == meaning for row in rows):
                meaning = ""
            rows.append(_Row(name, [str(counters.get(name, "")) for counters in by_name], meaning))
    return rows


def _flat(counters: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    for name, value in counters.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", amount) for inner, amount in value.items())
        else:
            yield name, value


def _aligned(titles: Sequence[str], rows: Sequence[_Row]) -> str:
    lines = [list(titles), *([row.name, *row.cells] for row in rows)]
    # A note may be longer than all columns together.
    widths = [
        max(len(line[at]) for line in lines if at < len(line) and line[0] != "note")
        for at in range(len(titles))
    ]
    meanings = ["", *(row.meaning for row in rows)]
    texts = []
    for line, meaning in zip(lines, meanings, strict=True):
        first, *cells = line
        padded = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells, widths[1:], strict=False))]
        texts.append(_GAP.join([*padded, meaning]).rstrip())
    return "\n".join(texts)

"""How the terms of a modelled latency add up, and what would be won without one of them: pure.

The rule is that of `harness_cpp/src/model/latency.cpp`, turned round: how far blocks go in step, which no
answer holds, follows from the latency.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_cudaopt.evaluation import Latency

HOW_THEY_ADD_UP = """\
A modelled latency is launch + max(W, blocks) + tail, where W lies between the root of the squares' sum
and the plain sum of `latency` and of what overlaps: the cube root of the cubes' sum of the other terms,
of `l2` and `dram` the larger one. So terms do not add up: beside each stands what would be won without
it. `launch` is a constant. `latency` is the slowest warp's chain of dependent instructions, once per wave
of resident blocks: loads that are issued early, prefetched or copied by cp.async shorten it as on a GPU.
`issue` counts all instructions, `lsu` wavefronts of global, shared and shuffle instructions, `blocks` the
starting of blocks, `tail` what the SM with the most blocks works longer than the mean."""

# Blocks of a single wave: how far they are in step at most.
_MOST_IN_STEP = 0.5
_APART = ("latency", "blocks", "tail", "launch")


@dataclass(frozen=True)
class Term:
    """One term, and how much shorter the latency would be if it were as small as can be."""

    name: str
    ns: float
    gain_ns: float


def gains(latency: Latency, least_ns: Mapping[str, float] | None = None) -> tuple[Term, ...]:
    """Return every term but the launch, the one whose absence would win most first.

    `least_ns` are terms that cannot be less, by name; others could be 0.
    """
    terms = dict(latency.terms_ns)
    if not terms:
        return ()
    in_step = _in_step(latency.median_ns, terms)
    whole = _total(terms, in_step)
    least = least_ns or {}
    found = []
    for name, ns in terms.items():
        if name == "launch":
            continue
        without = _total({**terms, name: min(ns, least.get(name, 0.0))}, in_step)
        found.append(Term(name, ns, max(0.0, whole - without)))
    return tuple(sorted(found, key=lambda term: -term.gain_ns))


def _busy(terms: Mapping[str, float]) -> float:
    memory = max(terms.get("l2", 0.0), terms.get("dram", 0.0))
    others = (ns for name, ns in terms.items() if name not in (*_APART, "l2", "dram"))
    return math.cbrt(sum(ns**3 for ns in others) + memory**3)


def _total(terms: Mapping[str, float], in_step: float) -> float:
    busy, waiting = _busy(terms), terms.get("latency", 0.0)
    apart = math.hypot(busy, waiting)
    core = apart + in_step * (busy + waiting - apart)
    return terms.get("launch", 0.0) + max(core, terms.get("blocks", 0.0)) + terms.get("tail", 0.0)


def _in_step(median_ns: float, terms: Mapping[str, float]) -> float:
    """Return how far blocks go in step, from 0 (drifted apart) to a half, as the latency tells."""
    core = median_ns - terms.get("launch", 0.0) - terms.get("tail", 0.0)
    busy, waiting = _busy(terms), terms.get("latency", 0.0)
    apart = math.hypot(busy, waiting)
    most = busy + waiting - apart
    # Where the starting of blocks decides, the latency does not tell.
    if most <= 0.0 or core <= terms.get("blocks", 0.0) * (1 + 1e-9):
        return _MOST_IN_STEP
    return min(_MOST_IN_STEP, max(0.0, (core - apart) / most))

"""A closure as texts for the compiler: each include renamed, emptied, or an `#error` that says why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from pytest_cudaopt.closure import Closure, Headers, Place, Resolved, Text, searched
from pytest_cudaopt.includes import Form, Include
from pytest_cudaopt.shims import HOST_ONLY, PREFIX, SHIMS

# Whether the toolchain has a header of this name.
HasHeader = Callable[[str], bool]
_GUARD = "'#ifndef __CUDACC_RTC__' and '#endif'"


@dataclass(frozen=True)
class Rewritten:
    """What the compiler gets: the source, headers by name, and which names became empty headers."""

    source: str
    headers: dict[str, str]
    stubbed: tuple[str, ...]


def rewrite(closure: Closure, has_header: HasHeader) -> Rewritten:
    """Return the texts of `closure`, line for line those of the files."""
    writer = _Writer(closure.place, has_header)
    source = writer.text(closure.source)
    headers, shims, stubbed = _headers(closure.headers, closure.place, has_header)
    mapped = {PREFIX + name: SHIMS[name] for name in (*writer.shims, *shims)}
    return Rewritten(source, {**headers, **mapped}, tuple(dict.fromkeys([*writer.stubbed, *stubbed])))


@lru_cache(maxsize=64)
def _headers(
    headers: Headers, place: Place, has_header: HasHeader
) -> tuple[dict[str, str], list[str], list[str]]:
    """Return the texts of headers by name, and the shims and stubs they name."""
    writer = _Writer(place, has_header)
    return {one.name: writer.text(one) for one in headers.all}, writer.shims, writer.stubbed


class _Writer:
    def __init__(self, place: Place, has_header: HasHeader) -> None:
        self._place = place
        self._has_header = has_header
        self.shims: list[str] = []
        self.stubbed: list[str] = []

    def text(self, one: Text) -> str:
        edits = [
            (include.start, include.end, self._directive(include, resolved))
            for include, resolved in zip(one.scanned.includes, one.includes, strict=True)
        ]
        edits += [
            (probe.start, probe.end, "1" if self._exists(probe.name, resolved) else "0")
            for probe, resolved in zip(one.scanned.probes, one.probes, strict=True)
        ]
        # Nothing changes in a comment; if the compiler reads it as code, it has no directive there.
        edits += [(start, end, "") for start, end in one.scanned.commented]
        text = _edited(one.text, edits)
        if (line := one.scanned.hidden) is None:
            return text
        why = "an #include in a raw string or behind a trigraph is not supported"
        return f"#error cudaopt: line {line}: {why}. Remove it\n{text}"

    def _directive(self, include: Include, resolved: Resolved) -> str:
        name = include.name
        if resolved.header is not None:
            return f"#include <{resolved.header}>"
        if resolved.refusal is not None:
            return _error(include, resolved.refusal)
        if resolved.is_stub:
            self.stubbed.append(name)
            return ""
        # Before the toolchain's, whose folder may be the system's.
        if name in SHIMS:
            self.shims.append(name)
            return f"#include <{PREFIX}{name}>"
        if name in HOST_ONLY:
            return _error(include, f"host-only header. Put host code between {_GUARD}, or mark a region")
        if self._has_header(name):
            return f"#include <{name}>"
        return _error(include, self._not_found(include))

    def _exists(self, name: str, resolved: Resolved) -> bool:
        if resolved.header is not None or resolved.refusal is not None:
            return resolved.header is not None
        return resolved.is_stub or name in SHIMS or (name not in HOST_ONLY and self._has_header(name))

    def _not_found(self, include: Include) -> str:
        folders = searched(self._place)
        if include.form is Form.ANGLED:
            folders = ", ".join(self._place.shown(folder) for folder in self._place.include) or "no include="
        return (
            f"no such file; searched {folders}, and the CUDA headers. Name its folder in include=, "
            "or name it in stub= if the kernel needs nothing of it"
        )


def _error(include: Include, reason: str) -> str:
    spelled = " ".join(include.spelled.split())
    return f"#error cudaopt: {include.directive} {spelled}: {reason}"


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Replace places of `text`; lines keep their numbers."""
    pieces: list[str] = []
    at = 0
    for start, end, new in sorted(edits):
        # A directive may go over several lines.
        lost = text.count("\n", start, end)
        pieces += [text[at:start], new, "\\\n" * lost]
        at = end
    return "".join([*pieces, text[at:]])

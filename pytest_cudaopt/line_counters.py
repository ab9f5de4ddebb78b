"""What a launch counted, as one flat mapping; and what the instructions of one source line counted of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class LineCounters:
    """Counters of one line, in the harness's own shape; those not there are 0."""

    file: str
    line: int
    counters: Mapping[str, Any]

    @cached_property
    def flat(self) -> dict[str, int]:
        """The counters by flat name."""
        return flattened(self.counters)


def flattened(counters: Mapping[str, Any]) -> dict[str, int]:
    """Return counters by flat name: "warp_instructions.fp32" and so on."""
    flat: dict[str, int] = {}
    for name, value in counters.items():
        if isinstance(value, Mapping):
            flat.update((f"{name}.{inner}", int(number)) for inner, number in value.items())
        else:
            flat[name] = int(value)
    return flat
